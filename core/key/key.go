// Package key builds and parses every key of the table. No other code knows a prefix, a separator or the index's form. Keys
// of rows that the TypeScript package also uses are its own. Ids from outside stand last in a key, or are hashed or refused
// when they hold the separator, so that no id can reach into another row: a fuzz test keeps that.
package key

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strconv"
)

// Key is the primary key of a row.
type Key struct{ PK, SK string }

// Names of the key attributes and of the sweep's index.
const (
	PK, SK       = "pk", "sk"
	DueIndex     = "due"
	DuePKName    = "duePk"
	DueSKName    = "dueSk"
	ExpiresAt    = "expiresAt"
	DueShards    = 16
	agentScope   = "agent" // scope and scope id of conversation snapshots
	maxDueMillis = 9_999_999_999_999
)

// Sort keys, and prefixes of sort keys.
const (
	ConfigSK       = "CONFIG"
	StateSK        = "STATE"
	LatestSK       = "LATEST#" + agentScope + "#" + agentScope
	ManifestSK     = "MANIFEST#" + agentScope + "#" + agentScope
	SnapshotPrefix = "SNAPSHOT#" + agentScope + "#" + agentScope + "#"
	EventPrefix    = "EVENT#"
	InboxPrefix    = "INBOX#"
	DeliveryPrefix = "DELIVERY#"
	SubPrefix      = "SUB#"
	ApprovalPrefix = "APPROVAL#"
	FilePrefix     = "FILE#"
	ReminderPrefix = "REMINDER#"
	FiredPrefix    = "FIRED#"
	PartPrefix     = "PART#"
	StatusSK       = "STATUS"
	DispatchSK     = "DISPATCH"
	ListingPrefix  = "SESSION#"
	SlotPrefix     = "SLOT#"
	WaiterPrefix   = "WAIT#"
	SkillsSK       = "SKILLS"
)

// SessionPK is the partition of everything under a session.
func SessionPK(sessionID string) string { return "SESSION#" + sessionID }

// Config is a session's configuration row.
func Config(sessionID string) Key { return Key{SessionPK(sessionID), ConfigSK} }

// State is a session's state row.
func State(sessionID string) Key { return Key{SessionPK(sessionID), StateSK} }

// Snapshot is one history segment or full snapshot of a session.
func Snapshot(sessionID, id string) Key { return Key{SessionPK(sessionID), SnapshotPrefix + id} }

// Latest points to a session's newest snapshot.
func Latest(sessionID string) Key { return Key{SessionPK(sessionID), LatestSK} }

// Manifest is a session's snapshot manifest.
func Manifest(sessionID string) Key { return Key{SessionPK(sessionID), ManifestSK} }

// Event holds the session events from index on.
func Event(sessionID string, index int64) Key {
	return Key{SessionPK(sessionID), EventPrefix + number(index)}
}

// Inbox is an accepted message that no turn has taken.
func Inbox(sessionID string, admission int64) Key {
	return Key{SessionPK(sessionID), InboxPrefix + number(admission)}
}

// Delivery makes a send idempotent.
func Delivery(sessionID, deliveryID string) Key {
	return Key{SessionPK(sessionID), DeliveryPrefix + deliveryID}
}

// Subscriber is a socket that follows a session.
func Subscriber(sessionID, connectionID string) Key {
	return Key{SessionPK(sessionID), SubPrefix + connectionID}
}

// Approval is a parked tool call.
func Approval(sessionID, actionID string) Key {
	return Key{SessionPK(sessionID), ApprovalPrefix + actionID}
}

// File is a file of a session's workspace.
func File(sessionID, path string) Key { return Key{SessionPK(sessionID), FilePrefix + path} }

// SessionReminder points from a session to one of its reminders.
func SessionReminder(sessionID, reminderID string) Key {
	return Key{SessionPK(sessionID), ReminderPrefix + reminderID}
}

// Connection is a WebSocket connection.
func Connection(connectionID string) Key { return Key{"CONNECTION#" + connectionID, "CONNECTION"} }

// Continuation leads from a channel's key to its session. The key is hashed; channel must not hold "#".
func Continuation(channel, key string) Key {
	return Key{"CONTINUATION#" + channel + "#" + Hash(key), "SESSION"}
}

// PrincipalPK is the partition of what a principal owns.
func PrincipalPK(kind, id string) string { return "PRINCIPAL#" + kind + "#" + id }

// Listing is a session in its owner's list; created is in milliseconds, so that the list sorts by time.
func Listing(kind, id string, created int64, sessionID string) Key {
	return Key{PrincipalPK(kind, id), ListingPrefix + millis(created) + "#" + sessionID}
}

// Skill is a skill that a principal uploaded.
func Skill(kind, id, name, digest string) Key {
	return Key{PrincipalPK(kind, id), "SKILL#" + name + "#" + digest}
}

// Skills lists the skills that a principal has uploaded.
func Skills(kind, id string) Key { return Key{PrincipalPK(kind, id), SkillsSK} }

// SessionSkills lists the uploaded skills that a session keeps for all its life.
func SessionSkills(sessionID string) Key { return Key{SessionPK(sessionID), SkillsSK} }

// Memory is one record of the in-table memory.
func Memory(kind, id, memoryID string) Key { return Key{PrincipalPK(kind, id), "MEMORY#" + memoryID} }

// TaskPK is the partition of a task.
func TaskPK(taskID string) string { return "TASK#" + taskID }

// Task is a task's status row.
func Task(taskID string) Key { return Key{TaskPK(taskID), StatusSK} }

// Dispatch is a task owed to the bus.
func Dispatch(taskID string) Key { return Key{TaskPK(taskID), DispatchSK} }

// AgentState is a named document of an agent; scope may be empty. name must not hold "#".
func AgentState(agentID, name, scope string) Key {
	sk := "STATE#" + name
	if scope != "" {
		sk += "#" + scope
	}
	return Key{"AGENT#" + agentID, sk}
}

// Gate is a trigger gate; prefix may be empty.
func Gate(prefix, slot string) Key {
	if prefix != "" {
		slot = prefix + "#" + slot
	}
	return Key{"TRIGGER#" + slot, "GATE"}
}

// Pause is an agent type's kill switch.
func Pause(agentType string) Key { return Key{"AGENCY#" + agentType, "PAUSE"} }

// Reminder is a reminder.
func Reminder(reminderID string) Key { return Key{"REMINDER#" + reminderID, "REMINDER"} }

// ReminderFiring is one instant of a reminder, in milliseconds.
func ReminderFiring(reminderID string, at int64) Key {
	return Key{"REMINDER#" + reminderID, FiredPrefix + millis(at)}
}

// Firing is one instant of a schedule, in milliseconds.
func Firing(scheduleID string, at int64) Key {
	return Key{"SCHEDULE#" + scheduleID, FiredPrefix + millis(at)}
}

// Budget is what is set for a budget's scope.
func Budget(scope string) Key { return Key{"BUDGET#" + scope, "BUDGET"} }

// Asked is the latest request about a named later event. The name is hashed.
func Asked(name string) Key { return Key{"SCHEDULED#" + Hash(name), "ASKED"} }

// BudgetWindow is what a budget's scope reserved and spent since start, in milliseconds.
func BudgetWindow(scope string, start int64) Key {
	return Key{"BUDGET#" + scope, "WINDOW#" + millis(start)}
}

// BudgetHold is one call's reservation.
func BudgetHold(scope, call string) Key { return Key{"BUDGET#" + scope, "HOLD#" + call} }

// SlotPK is the partition of a scope's places for running turns, and of the sessions that wait for one.
func SlotPK(scope string) string { return "SLOT#" + scope }

// Slot is a place for a running turn.
func Slot(scope string, n int) Key { return Key{SlotPK(scope), SlotPrefix + number(int64(n))} }

// Waiter is a session that waits for a place since a time in milliseconds, so that the oldest sorts first.
func Waiter(scope string, since int64, sessionID string) Key {
	return Key{SlotPK(scope), WaiterPrefix + millis(since) + "#" + sessionID}
}

// Part is the n-th piece of a row over the size limit, n below 10^8. It lies beside its head.
func Part(head Key, n int) Key {
	return Key{head.PK, PartPrefix + head.SK + "#" + fmt.Sprintf("%08d", n)}
}

// PartsOf is the sort key prefix of all parts of a head.
func PartsOf(head Key) string { return PartPrefix + head.SK + "#" }

// Detail is a field too large for the bus.
func Detail(id string) Key { return Key{"DETAIL#" + id, "DETAIL"} }

// DuePK is the index partition a row with the given pk falls into when it owes something.
func DuePK(pk string) string {
	h := fnv.New32a()
	h.Write([]byte(pk))
	return DueShard(int(h.Sum32() % DueShards))
}

// DueShard is the n-th index partition, n from 0 to DueShards-1.
func DueShard(n int) string { return fmt.Sprintf("DUE#%02d", n) }

// DueSK is the index sort key of what is due at ms.
func DueSK(ms int64) string { return millis(ms) }

// DueTime reads a due sort key.
func DueTime(dueSK string) (ms int64, err error) { return strconv.ParseInt(dueSK, 10, 64) }

// Hash is a short stable name for text of any length: 32 hex digits of its SHA-256.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func number(n int64) string { return fmt.Sprintf("%012d", n) }

func millis(ms int64) string { return fmt.Sprintf("%013d", min(max(ms, 0), maxDueMillis)) }
