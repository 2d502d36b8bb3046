package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// Kind keeps the names of different things apart in one group of schedules.
type Kind string

// The kinds.
const (
	Event    Kind = ""          // a Schedule Event, a delayed task
	Reminder Kind = "reminder." // a reminder
	File     Kind = "file."     // a schedule from a file or a handler
)

// MaxName is how long a schedule's name may be.
const MaxName = 64

// Forms of a schedule's name, and of one that ends as a shortened one does.
const (
	nameForm      = `^[0-9a-zA-Z\-_.]{1,64}$`
	shortenedForm = `-[0-9a-f]{32}$`
)

// Name is the name of the schedule of what has the id: id itself behind its kind, where that is a name that EventBridge Scheduler
// takes, else a readable beginning and a hash. It is stable, and no two share one. Every operation on a schedule uses it.
func Name(kind Kind, id string) string {
	name := string(kind) + id
	reserved := kind == Event && (strings.HasPrefix(id, string(Reminder)) || strings.HasPrefix(id, string(File)))
	if !reserved && regexp.MustCompile(nameForm).MatchString(name) && !regexp.MustCompile(shortenedForm).MatchString(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	readable := regexp.MustCompile(`[^0-9a-zA-Z_.]+`).ReplaceAllString(id, "-")
	if reserved { // it must not look like one of the other kind
		readable = strings.ReplaceAll(readable, ".", "-")
	}
	readable = string(kind) + strings.Trim(readable, "-")
	return readable[:min(len(readable), MaxName-33)] + "-" + hex.EncodeToString(sum[:16])
}
