package secrets_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/steadfast-agents/steadfast/core/boot"
	"github.com/steadfast-agents/steadfast/core/boot/secrets"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// shelf answers with its value, or with its error.
type shelf struct {
	value string
	err   error
	asked int
}

func (s *shelf) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	s.asked++
	if *in.Name != "/a" || !*in.WithDecryption {
		return nil, errors.New("another parameter was asked for")
	}
	return &ssm.GetParameterOutput{Parameter: &types.Parameter{Value: &s.value}}, s.err
}

func TestASecretIsReadNowAndThen(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &shelf{err: errors.New("down")}
	p := &secrets.Parameter{Store: s, Name: "/a", Now: func() time.Time { return now }}
	get := func(want string, asked int) {
		t.Helper()
		got, err := p.Get(t.Context())
		if string(got) != want || (err != nil) != (want == "") || s.asked != asked {
			t.Errorf("Get = %q, %v after %d questions, want %q after %d", got, err, s.asked, want, asked)
		}
	}
	get("", 1)
	if _, err := p.Get(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Get = %v, want Unavailable", err)
	}
	s.value, s.err = "one", nil
	get("one", 3)
	s.value = "two"
	get("one", 3)
	now = now.Add(5 * time.Minute)
	get("two", 4)
	now, s.err = now.Add(5*time.Minute), errors.New("down")
	get("two", 5)
}

func TestNoNameIsNoSecret(t *testing.T) {
	if secrets.Reader(boot.Edges{}, "") != nil || secrets.Reader(boot.Edges{}, "/a") == nil {
		t.Error("a parameter is there exactly when it has a name")
	}
}
