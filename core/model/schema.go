package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// maxRefs bounds how many references PlainSchema follows, so that a schema that names itself ends.
const maxRefs = 64

// combiners gives the keywords that the service refuses at the top of a tool's schema.
func combiners() []string { return []string{"$ref", "allOf", "anyOf", "oneOf"} }

// PlainSchema gives a schema of type object without $ref, allOf, anyOf and oneOf at its top; the service refuses those
// there and takes them further inside. A schema that is acceptable stays byte for byte. Otherwise references into the
// schema are replaced by what they name, and branches become one object with the properties of them all, required where
// every branch (of allOf: any branch) requires them; whether the branches fit together is not checked any more. What is
// no schema of an object becomes {"type":"object"}. Idempotent.
func PlainSchema(schema json.RawMessage) json.RawMessage {
	if schemaFault(schema) == "" {
		return schema
	}
	var root fields
	if json.Unmarshal(schema, &root) != nil || root == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	f := flattener{root: root, left: maxRefs}
	plain := f.flatten(root)
	plain["type"] = json.RawMessage(`"object"`)
	out, err := marshal(plain)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// schemaFault says what the service would refuse in a tool's schema, "" for nothing.
func schemaFault(schema json.RawMessage) string {
	var top fields
	if !isObject(schema) || json.Unmarshal(schema, &top) != nil {
		return "is not a JSON object"
	}
	if string(top["type"]) != `"object"` {
		return `has no "type": "object"`
	}
	for _, k := range combiners() {
		if _, ok := top[k]; ok {
			return "has " + k + " at the top"
		}
	}
	if raw, ok := top["properties"]; ok && !isObject(raw) {
		return "has properties that are not a JSON object"
	}
	return ""
}

// fields is a JSON object whose values are untouched.
type fields = map[string]json.RawMessage

type flattener struct {
	root fields
	left int // references that may still be followed
}

// flatten gives one object schema for s and all that its combiners name.
func (f *flattener) flatten(s fields) fields {
	plain := make(fields, len(s))
	for k, v := range s {
		if !slices.Contains(combiners(), k) {
			plain[k] = v
		}
	}
	if raw, ok := plain["properties"]; ok && !isObject(raw) {
		delete(plain, "properties")
	}
	if target := f.resolve(s["$ref"]); target != nil {
		absorb(plain, f.flatten(target))
	}
	for _, branch := range f.branches(s["allOf"]) {
		absorb(plain, branch)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if branches := f.branches(s[k]); len(branches) > 0 {
			absorb(plain, alternatives(branches))
		}
	}
	return plain
}

func (f *flattener) branches(raw json.RawMessage) []fields {
	var all []fields
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var flat []fields
	for _, s := range all {
		flat = append(flat, f.flatten(s))
	}
	return flat
}

// resolve follows a reference of the form #/a/b within the schema, nil if it leads nowhere.
func (f *flattener) resolve(raw json.RawMessage) fields {
	var ref string
	if json.Unmarshal(raw, &ref) != nil {
		return nil
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if f.left--; !ok || f.left < 0 {
		return nil
	}
	at := f.root
	for step := range strings.SplitSeq(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var next fields
		if json.Unmarshal(at[step], &next) != nil {
			return nil
		}
		at = next
	}
	return at
}

// absorb adds to s what branch has and s has not: properties, required names, words and definitions.
func absorb(s, branch fields) {
	properties := members(s["properties"])
	for name, v := range members(branch["properties"]) {
		if _, ok := properties[name]; !ok {
			properties[name] = v
		}
	}
	set(s, "properties", properties, len(properties))
	required := append(names(s["required"]), names(branch["required"])...)
	slices.Sort(required)
	set(s, "required", slices.Compact(required), len(required))
	for _, k := range []string{"description", "title", "$defs", "definitions"} {
		if v, ok := branch[k]; ok && s[k] == nil {
			s[k] = v
		}
	}
	delete(s, "additionalProperties") // each branch closed its own list of properties, the union has more
}

// alternatives gives one schema for branches of which any may hold: a property that differs between them may be as in
// any of them, and only what all of them require is required.
func alternatives(branches []fields) fields {
	seen := make(map[string][]json.RawMessage)
	for _, b := range branches {
		for name, v := range members(b["properties"]) {
			if !slices.ContainsFunc(seen[name], func(o json.RawMessage) bool { return bytes.Equal(o, v) }) {
				seen[name] = append(seen[name], v)
			}
		}
	}
	properties := make(map[string]any, len(seen))
	for name, forms := range seen {
		if properties[name] = forms[0]; len(forms) > 1 {
			properties[name] = map[string]any{"anyOf": forms}
		}
	}
	joined := make(fields)
	set(joined, "properties", properties, len(properties))
	common := commonNames(branches)
	set(joined, "required", common, len(common))
	return joined
}

// set puts v, which has n parts, into s as key, unless it has none.
func set(s fields, key string, v any, n int) {
	if n == 0 {
		return
	}
	if raw, err := marshal(v); err == nil {
		s[key] = raw
	}
}

// members reads a JSON object, anything else as an empty one.
func members(raw json.RawMessage) fields {
	var m fields
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return make(fields)
	}
	return m
}

func names(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// commonNames gives the names that every branch requires.
func commonNames(branches []fields) []string {
	common := names(branches[0]["required"])
	for _, b := range branches[1:] {
		required := names(b["required"])
		common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(required, n) })
	}
	return common
}
