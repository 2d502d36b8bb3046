package fake

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// checkKey takes the Key of a request: exactly the key attributes, of their types, not empty, not too long.
func (t *table) checkKey(key attr.Item) (attr.Item, error) {
	kept, err := attr.StoredItem(key)
	if err != nil {
		return nil, err
	}
	if len(kept) != len(t.main.keys.names()) || len(t.main.keys.of(kept)) != len(kept) {
		return nil, attr.Refuse("The provided key element does not match the schema")
	}
	return kept, t.checkKeyValues(kept)
}

// checkRow takes a whole row: it has a valid key, fits in MaxItemBytes, and its index attributes are fit to be keys.
func (t *table) checkRow(item attr.Item, tooBig string) error {
	for _, name := range t.main.keys.names() {
		if item[name] == nil {
			return attr.Refuse("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
	}
	if err := t.checkKeyValues(item); err != nil {
		return err
	}
	for _, i := range t.others {
		if err := i.checkIndexKey(item); err != nil {
			return err
		}
	}
	if size := attr.ItemSize(item); size > MaxItemBytes {
		return attr.Refuse("%s", tooBig)
	}
	return nil
}

func (t *table) checkKeyValues(item attr.Item) error {
	for n, a := range []keyAttribute{t.main.keys.hash, t.main.keys.sort} {
		if a.name == "" {
			continue
		}
		v := item[a.name]
		if kind := attr.Type(v); kind != a.kind {
			return attr.Refuse("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", a.name, a.kind, kind)
		}
		if length, ok := attr.Len(v); ok && length == 0 {
			return attr.Refuse("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", a.name)
		}
		if limit := []int{MaxHashBytes, MaxSortBytes}[n]; attr.Size(v) > limit {
			return attr.Refuse("One or more parameter values were invalid: Size of %s has exceeded the maximum size limit of %d bytes", []string{"hashkey", "rangekey"}[n], limit)
		}
	}
	return nil
}

// checkIndexKey refuses a row whose attribute an index could not use as a key. A missing one only keeps it out of the index.
func (i *index) checkIndexKey(item attr.Item) error {
	for _, a := range []keyAttribute{i.keys.hash, i.keys.sort} {
		v := item[a.name]
		if a.name == "" || v == nil {
			continue
		}
		if kind := attr.Type(v); kind != a.kind {
			return attr.Refuse("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", a.name, a.kind, kind, i.name)
		}
		if length, ok := attr.Len(v); ok && length == 0 {
			return attr.Refuse("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
				"The AttributeValue for a key attribute cannot contain an empty string value. IndexName: %s, IndexKey: %s", i.name, a.name)
		}
	}
	return nil
}

// keyText writes a key so that no two keys share a text.
func (t *table) keyText(item attr.Item) string {
	var parts []string
	for _, name := range t.main.keys.names() {
		parts = append(parts, attr.Text(item[name]))
	}
	return strings.Join(parts, "|")
}

// keyLine writes a key for people: its values with a bar between.
func (t *table) keyLine(item attr.Item) string {
	var parts []string
	for _, name := range t.main.keys.names() {
		parts = append(parts, plain(item[name]))
	}
	return strings.Join(parts, "|")
}

// keyNote writes the key of a request whose table may not exist.
func keyNote(item attr.Item) string {
	if item["pk"] == nil {
		return ""
	}
	return plain(item["pk"]) + "|" + plain(item["sk"])
}

// plain is the text of a value, a string without quotes.
func plain(v attr.Value) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return attr.Text(v)
}
