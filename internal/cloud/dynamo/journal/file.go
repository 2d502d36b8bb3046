package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// A line is the record's CRC-32 in eight hex digits, a space, the record, a newline.
const sumLength = 8

func appendLine(to, record []byte) []byte {
	to = fmt.Appendf(to, "%0*x ", sumLength, crc32.ChecksumIEEE(record))
	return append(append(to, record...), '\n')
}

func parseLine(line []byte) (record []byte, ok bool) {
	if len(line) <= sumLength || line[sumLength] != ' ' {
		return nil, false
	}
	sum, err := strconv.ParseUint(string(line[:sumLength]), 16, 32)
	record = line[sumLength+1:]
	return record, err == nil && uint32(sum) == crc32.ChecksumIEEE(record)
}

// load replays the file and gives the length of its sound part: without a torn last line.
func load(path string, replay func([]byte) error) (int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	var sound int64
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return sound, nil // what is left has no end: torn
		}
		if err != nil {
			return 0, fmt.Errorf("read journal %s: %w", path, err)
		}
		record, ok := parseLine(bytes.TrimSuffix(line, []byte("\n")))
		if !ok {
			return 0, fmt.Errorf("journal %s is damaged at line %d: checksum does not match", path, n)
		}
		if err := replay(record); err != nil {
			return 0, fmt.Errorf("journal %s line %d: %w", path, n, err)
		}
		sound += int64(len(line))
	}
}

// openAppend opens the file for appending after its first size bytes; the rest is cut off.
func openAppend(path string, size int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// rewrite puts a whole new file in the place of the old one, or leaves the old one as it was.
func rewrite(path string, state func(emit func([]byte) error) error) (int64, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // fails, rightly, once it has been renamed
	w := bufio.NewWriterSize(f, 1<<16)
	var size int64
	err = state(func(record []byte) error {
		n, err := w.Write(appendLine(nil, record))
		size += int64(n)
		return err
	})
	err = errors.Join(err, w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, err
	}
	return size, syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
