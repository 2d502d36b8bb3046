package snapshot

import (
	"fmt"
	"slices"

	"github.com/steadfast-agents/steadfast/core/fault"
)

// Sizes of what is stored in one item.
const (
	MaxItemBytes = 350 * 1024            // DynamoDB's own limit of an item is 400 KB
	MaxPartBytes = MaxItemBytes - 8*1024 // data of one part; the rest is for keys, names and other attributes
	MaxParts     = 10_000                // numbers have 4 digits
)

// Split cuts data into parts of at most limit bytes (limit <= 0: MaxPartBytes), all of them full but the last. Empty
// data is one empty part. Cuts fall between any two bytes, so a part is not text by itself. The parts share data's
// memory.
func Split(data []byte, limit int) [][]byte {
	if limit <= 0 {
		limit = MaxPartBytes
	}
	if len(data) == 0 {
		return [][]byte{nil}
	}
	return slices.Collect(slices.Chunk(data, limit))
}

// PartNumber gives the text of part n, from 0, that sorts as the numbers do: "0000", "0001" to "9999". Faults: Limit
// past MaxParts.
func PartNumber(n int) (string, error) {
	if n < 0 || n >= MaxParts {
		return "", fault.New(fault.Limit, "part %d: more than %d parts", n, MaxParts)
	}
	return fmt.Sprintf("%04d", n), nil
}

// Join puts count parts back together, by their numbers from 0. Faults: Internal if one is missing.
func Join(parts map[int][]byte, count int) ([]byte, error) {
	size := 0
	for n := range count {
		part, ok := parts[n]
		if !ok {
			return nil, fault.New(fault.Internal, "part %d of %d is missing", n, count)
		}
		size += len(part)
	}
	data := make([]byte, 0, size)
	for n := range count {
		data = append(data, parts[n]...)
	}
	return data, nil
}
