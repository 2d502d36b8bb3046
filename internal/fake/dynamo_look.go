package fake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// The methods of this file look at the tables from outside: they are no calls, count nothing and cannot be disturbed.

// Items gives copies of all rows whose partition key begins with prefix, ordered by table, partition and sort key.
func (d *Dynamo) Items(prefix string) []attr.Item {
	var out []attr.Item
	d.each(func(t *table, row attr.Item) {
		if strings.HasPrefix(plain(row[t.main.keys.hash.name]), prefix) {
			out = append(out, attr.CloneItem(row))
		}
	})
	return out
}

// each visits every row in a stable order.
func (d *Dynamo) each(visit func(*table, attr.Item)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.tables)) {
		t := d.tables[name]
		for _, part := range slices.Sorted(maps.Keys(t.main.parts)) {
			for _, row := range t.main.parts[part] {
				visit(t, row)
			}
		}
	}
}

// Dump writes every row in a stable text: a line with the keys, then a line for each other attribute in order of names.
// Attributes named in without are left out, for comparisons that do not care about, say, expiresAt.
func (d *Dynamo) Dump(without ...string) string {
	var b strings.Builder
	d.each(func(t *table, row attr.Item) {
		fmt.Fprintf(&b, "%s\n", t.keyLine(row))
		for _, name := range slices.Sorted(maps.Keys(row)) {
			if !slices.Contains(t.main.keys.names(), name) && !slices.Contains(without, name) {
				fmt.Fprintf(&b, "  %s = %s\n", name, attr.Text(row[name]))
			}
		}
	})
	return b.String()
}

// DeleteExpired takes away every row whose attribute (a number of seconds since 1970) is not after now, as the service does some
// day after, and gives their number.
func (d *Dynamo) DeleteExpired(attribute string, now time.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, t := range d.tables {
		for _, rows := range t.main.parts {
			for _, row := range slices.Clone(rows) {
				if seconds, ok := expiry(row[attribute]); ok && seconds <= now.Unix() {
					t.write(row, nil)
					n++
				}
			}
		}
	}
	return n
}

// expiry reads a time to live. What is not a number never expires.
func expiry(v attr.Value) (int64, bool) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	seconds, err := strconv.ParseInt(n.Value, 10, 64)
	return seconds, err == nil
}
