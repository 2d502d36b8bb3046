package boot

import (
	"log/slog"
	"os"
)

// Must gives what make makes. When it cannot be made it says so in one log line and ends the process: a function that cannot work must
// not answer.
func Must[T any](log *slog.Logger, make func() (T, error)) T {
	made, err := make()
	if err != nil {
		log.Error(err.Error())
		os.Exit(1)
	}
	return made
}
