package snapshot

import (
	"encoding/binary"
	"encoding/hex"
	"time"
)

// maxMillis is the largest time a UUIDv7 can hold (48 bits): the year 10889.
const maxMillis = 1<<48 - 1

// NextID makes the id of the segment that follows base: a UUIDv7 in lower case whose time is now, or one millisecond
// after that of base if now is not later, so that an id sorts after its base even when a slower clock has taken over.
// base may be empty or no UUIDv7 (as "latest", the id of a snapshot of the TypeScript package); the time is now then.
// Of random the last 10 bytes count, less 6 bits.
func NextID(now time.Time, base string, random [16]byte) string {
	millis := now.UnixMilli()
	if at, ok := Time(base); ok {
		millis = max(millis, at.UnixMilli()+1)
	}
	millis = min(max(millis, 0), maxMillis)
	id := random
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(millis))
	copy(id[:6], at[2:])
	id[6] = 0x70 | id[6]&0x0f // version 7
	id[8] = 0x80 | id[8]&0x3f // variant of RFC 9562
	return format(id)
}

func format(id [16]byte) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Time gives the time in an id that NextID made, to the millisecond; false for any other text.
func Time(id string) (time.Time, bool) {
	var raw [18]byte // 2 bytes of time, then the id
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return time.Time{}, false
	}
	digits := id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:]
	if _, err := hex.Decode(raw[2:], []byte(digits)); err != nil || raw[8]>>4 != 7 || raw[10]>>6 != 2 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(raw[:8]))).UTC(), true
}
