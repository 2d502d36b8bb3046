package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// disk keeps one file per item. A file appears whole or not at all: it is written and synced beside its place first.
type disk struct{ folder string }

const (
	suffix     = ".json"
	unfinished = ".tmp"
)

func openDisk(folder string) (*disk, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return &disk{folder}, nil
}

// load reads every item. Files that a crash left unfinished were never promised to anybody and are removed.
func (d *disk) load() ([]item, error) {
	entries, err := os.ReadDir(d.folder)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	var out []item
	var failed error
	for _, e := range entries {
		path := filepath.Join(d.folder, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), unfinished):
			_ = os.Remove(path)
		case strings.HasSuffix(e.Name(), suffix):
			it, err := readItem(path)
			out, failed = append(out, it), errors.Join(failed, err)
		}
	}
	if failed != nil {
		return nil, fmt.Errorf("open the queue: %w", failed)
	}
	return out, nil
}

func readItem(path string) (item, error) {
	var it item
	body, err := os.ReadFile(path)
	if err != nil {
		return it, err
	}
	if err := json.Unmarshal(body, &it); err != nil || it.ID == "" {
		return it, fmt.Errorf("%s is damaged; remove it to go on without this invocation: %v", path, err)
	}
	return it, nil
}

func (d *disk) path(id string) string { return filepath.Join(d.folder, id+suffix) }

// write returns once the item is on disk. Writing an id again replaces it.
func (d *disk) write(it item) error {
	body, err := json.Marshal(it)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(d.folder, it.ID+"-*"+unfinished)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), d.path(it.ID))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return syncFolder(d.folder)
}

// remove forgets an item; one that is gone already is fine. It is not synced: the worst is one more run.
func (d *disk) remove(id string) error {
	if err := os.Remove(d.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder makes names in a folder durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
