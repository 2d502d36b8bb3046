package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/steadfast-agents/steadfast/core/cond"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
	"github.com/steadfast-agents/steadfast/core/session"
)

type configRow struct {
	session.Config
	CreatedAt int64 `dynamodbav:"createdAt"`
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

// SessionConfig reads what a session was created with. Faults: NotFound (use the zero Config), Unavailable.
func (t Table) SessionConfig(ctx context.Context, sessionID string) (session.Config, error) {
	c, _, err := t.Config(ctx, sessionID)
	return c, err
}

// Config is SessionConfig that also gives the row's expiry, in seconds.
func (t Table) Config(ctx context.Context, sessionID string) (session.Config, int64, error) {
	var row configRow
	found, err := t.getInto(ctx, key.Config(sessionID), &row)
	if err == nil && (!found || row.ExpiresAt != 0 && row.ExpiresAt <= t.now().Unix()) {
		err = fault.New(fault.NotFound, "no config of such a session")
	}
	return row.Config, row.ExpiresAt, err
}

// CreateSession records a session's configuration alone, under a new id if it names none, as the TypeScript package does: the
// first verified message of its owner brings it to life. Faults: Conflict if it exists, Invalid, Unavailable.
func (t Table) CreateSession(ctx context.Context, c session.Config) (session.Config, error) {
	if c.SessionID == "" {
		c.SessionID = uuid.NewString()
	}
	return c, t.Commit(ctx, NewConfig(c, t.now()))
}

// NewConfig is the write of a new session's configuration.
func NewConfig(c session.Config, now time.Time) Write {
	k := key.Config(c.SessionID)
	row, err := encode(k, "SessionConfig", configRow{c, now.UnixMilli(), now.Add(session.Life).Unix()})
	if err == nil && c.Tools != nil { // an empty list means no tools, a missing one the host's
		row["tools"] = stringList(c.Tools)
	}
	absent := absentOrExpired(now.Unix())
	return Write{key: k, put: row, cond: &absent, err: err}
}

func stringList(list []string) *types.AttributeValueMemberL {
	l := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for _, s := range list {
		l.Value = append(l.Value, &types.AttributeValueMemberS{Value: s})
	}
	return l
}

// CheckConfig is the condition that a configuration is as it was read: owned by userID, or absent if that is empty.
func CheckConfig(sessionID, userID string) Write {
	c := cond.EqOrAbsent("userId", userID)
	return Write{key: key.Config(sessionID), cond: &c}
}

// KeepConfig extends the life of a configuration that is there.
func KeepConfig(sessionID string, expires int64) Write {
	exists := cond.Exists(key.PK)
	return Write{key: key.Config(sessionID), set: item{key.ExpiresAt: number(expires)}, cond: &exists}
}

// listing is a session in its owner's list.
type listing struct {
	SessionID string `dynamodbav:"sessionId"`
	Title     string `dynamodbav:"title,omitempty"`
	CreatedAt int64  `dynamodbav:"createdAt"`
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// PutListing is the write of a session's place in its owner's list.
func PutListing(s session.State, title string) Write {
	k := key.Listing(string(s.Principal.Type), s.Principal.ID, s.CreatedAt, s.SessionID)
	row, err := encode(k, "SessionListing", listing{s.SessionID, title, s.CreatedAt, s.ExpiresAt})
	return Write{key: k, put: row, err: err}
}

// DropListing is the removal of a session's place in its owner's list.
func DropListing(s session.State) Write {
	return remove(key.Listing(string(s.Principal.Type), s.Principal.ID, s.CreatedAt, s.SessionID))
}

// Listed is one entry of an owner's list.
type Listed struct {
	SessionID, Title string
	CreatedAt        time.Time
}

// Sessions reads an owner's list, newest first, from after the given sort key on, and gives at most limit entries and the key
// to go on from; "" at the end. Expired entries are left out without ending the list. Faults: Unavailable.
func (t Table) Sessions(ctx context.Context, kind, id, after string, limit int) (list []Listed, next string, err error) {
	s := scope{pk: key.PrincipalPK(kind, id), keys: prefix(key.ListingPrefix), backward: true, pageSize: int32(limit + 1)}
	if after != "" {
		s.start = keyItem(key.Key{PK: s.pk, SK: after})
	}
	last := ""
	for row, err := range t.query(ctx, s) {
		if err != nil {
			return nil, "", err
		}
		if len(list) == limit {
			return list, last, nil
		}
		var l listing
		if err := decode(row, &l); err != nil {
			return nil, "", err
		}
		last = text(row, key.SK)
		if l.ExpiresAt > t.now().Unix() {
			list = append(list, Listed{l.SessionID, l.Title, time.UnixMilli(l.CreatedAt)})
		}
	}
	return list, "", nil
}
