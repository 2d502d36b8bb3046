package dynamo

import (
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/expr"
	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/value"
)

// Limits of DynamoDB.
const (
	maxItem     = 400 << 10 // bytes of one item, names and values
	maxHashKey  = 2048
	maxSortKey  = 1024
	maxName     = 64 << 10
	maxPage     = 1 << 20 // bytes evaluated by one Query or Scan
	maxTransact = 4 << 20 // bytes of one transaction
	maxActions  = 100     // of one transaction
	maxBatchPut = 25
	maxBatchGet = 100
)

// checkKey refuses a key that is not exactly the table's.
func (t *table) checkKey(key value.Item) error {
	if len(key) != len(t.keyNames()) {
		return validation("The provided key element does not match the schema")
	}
	for _, n := range t.keyNames() {
		if v, ok := key[n]; !ok || v.Kind != t.kind(n) {
			return validation("The provided key element does not match the schema")
		}
	}
	return t.checkKeyValues(key)
}

func (t *table) checkKeyValues(it value.Item) error {
	for _, n := range t.keyNames() {
		limit, which := maxHashKey, "hashkey"
		if n == t.spec.SortKey {
			limit, which = maxSortKey, "rangekey"
		}
		switch l := len(it[n].Str); {
		case l == 0:
			return validation("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", n)
		case l > limit:
			return validation("One or more parameter values were invalid: Size of %s has exceeded the maximum size limit of %d bytes", which, limit)
		}
	}
	return nil
}

// checkItem refuses an item that the table cannot hold, before its size is judged.
func (t *table) checkItem(it value.Item) error {
	for _, n := range t.keyNames() {
		v, ok := it[n]
		if !ok {
			return validation("One or more parameter values were invalid: Missing the key %s in the item", n)
		}
		if v.Kind != t.kind(n) {
			return validation("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s", n, t.kind(n), v.Kind)
		}
	}
	for n := range it {
		if n == "" || len(n) > maxName {
			return validation("One or more parameter values were invalid: an attribute name must have 1 to 65535 bytes")
		}
	}
	if err := t.checkKeyValues(it); err != nil {
		return err
	}
	return t.checkIndexKeys(it)
}

func (t *table) checkIndexKeys(it value.Item) error {
	for _, x := range t.indexes {
		for _, n := range names(x.hash, x.sort) {
			v, ok := it[n]
			if !ok {
				continue
			}
			if v.Kind != t.kind(n) {
				return validation("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", n, t.kind(n), v.Kind, x.name)
			}
			if v.Str == "" {
				return validation("One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: %s, IndexKey: %s", x.name, n)
			}
			limit := maxHashKey
			if n == x.sort {
				limit = maxSortKey
			}
			if len(v.Str) > limit {
				return validation("One or more parameter values were invalid: Size of index key %s has exceeded the maximum size limit of %d bytes. IndexName: %s", n, limit, x.name)
			}
		}
	}
	return nil
}

// checkUpdate refuses an update that writes to the key.
func (t *table) checkUpdate(u expr.Update) error {
	for _, p := range u.Paths() {
		for _, n := range t.keyNames() {
			if p[0].Name == n {
				return validation("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", n)
			}
		}
	}
	return nil
}

// oneOf refuses a word outside a request field's list; an empty one is the field's default.
func oneOf(field, got string, allowed ...string) error {
	if got == "" {
		return nil
	}
	for _, a := range allowed {
		if got == a {
			return nil
		}
	}
	return validation("1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: Member must satisfy enum value set: %v", got, field, allowed)
}
