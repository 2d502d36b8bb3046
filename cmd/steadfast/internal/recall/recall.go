// Package recall remembers which session each user talked in last at each stack, in one small file, so that a later chat goes on
// with it. It holds ids only, never a token or a text, and losing it costs nothing but the habit.
package recall

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Book is the file at Path. A missing or damaged one counts as empty.
type Book struct{ Path string }

// Default gives the book in the user's state folder.
func Default() (Book, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return Book{}, fmt.Errorf("find the folder of the user's settings: %w", err)
		}
	}
	return Book{filepath.Join(dir, "steadfast", "sessions.json")}, nil
}

// Session gives the last session of user at a stack, "" if there is none.
func (b Book) Session(stack, user string) string { return b.read()[stack][user] }

// Remember notes that user talks in session now.
func (b Book) Remember(stack, user, session string) error {
	all := b.read()
	if all[stack][user] == session {
		return nil
	}
	if all[stack] == nil {
		all[stack] = map[string]string{}
	}
	all[stack][user] = session
	return b.write(all)
}

// Forget drops session wherever it stands.
func (b Book) Forget(session string) error {
	all, found := b.read(), false
	for _, users := range all {
		for user, s := range users {
			if s == session {
				delete(users, user)
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	return b.write(all)
}

func (b Book) read() map[string]map[string]string {
	all := map[string]map[string]string{}
	raw, err := os.ReadFile(b.Path)
	if err != nil || json.Unmarshal(raw, &all) != nil || all == nil {
		return map[string]map[string]string{}
	}
	return all
}

// write replaces the file in one step, so that a reader never sees half of it.
func (b Book) write(all map[string]map[string]string) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", b.Path, err)
	}
	if err := os.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return fmt.Errorf("remember session: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(b.Path), ".sessions-*")
	if err != nil {
		return fmt.Errorf("remember session: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), b.Path)
	}
	if err != nil {
		if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
		return fmt.Errorf("remember session: %w", err)
	}
	return nil
}
