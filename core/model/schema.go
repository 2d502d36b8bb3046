package model

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxRefs bounds how many references and alternatives PlainSchema follows, so that a schema that names itself ends.
const maxRefs = 16

// combiners gives the keywords that the service refuses at the top of a tool's schema.
func combiners() []string { return []string{"$ref", "allOf", "anyOf", "oneOf"} }

// PlainSchema gives a schema of type object without $ref, allOf, anyOf and oneOf at its top; the service refuses those
// there and takes them further inside. A schema that is acceptable stays byte for byte. Otherwise references into the
// schema are replaced by what they name and the branches become one object: all their properties, required where every
// branch (allOf: any branch) requires them. The result may accept more than the original did, never less. What is no
// schema of an object becomes {"type":"object"}. Idempotent.
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
	left int // references and branches that may still be followed
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
		absorb(plain, f.flatten(target), names(target["required"]))
	}
	for _, branch := range f.branches(s["allOf"]) {
		absorb(plain, branch, names(branch["required"]))
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		branches := f.branches(s[k])
		common := commonNames(branches)
		for _, branch := range branches {
			absorb(plain, branch, common)
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
		if f.left--; f.left < 0 {
			break
		}
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

// absorb adds to s what branch has: properties s does not have, required names, other keywords s does not have.
func absorb(s, branch fields, required []string) {
	if merged := union(s["properties"], branch["properties"]); merged != nil {
		s["properties"] = merged
	}
	if all := slices.Compact(slices.Sorted(slices.Values(append(names(s["required"]), required...)))); len(all) > 0 {
		if raw, err := marshal(all); err == nil {
			s["required"] = raw
		}
	}
	for _, k := range []string{"description", "title", "$defs", "definitions"} {
		if v, ok := branch[k]; ok && s[k] == nil {
			s[k] = v
		}
	}
	delete(s, "additionalProperties") // each branch closed its own list of properties, the union has more
}

func union(a, b json.RawMessage) json.RawMessage {
	var x, y fields
	if json.Unmarshal(b, &y) != nil || len(y) == 0 {
		return a
	}
	if json.Unmarshal(a, &x) != nil || x == nil {
		return b
	}
	for k, v := range y {
		if _, ok := x[k]; !ok {
			x[k] = v
		}
	}
	out, err := marshal(x)
	if err != nil {
		return a
	}
	return out
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
	if len(branches) == 0 {
		return nil
	}
	common := names(branches[0]["required"])
	for _, b := range branches[1:] {
		required := names(b["required"])
		common = slices.DeleteFunc(common, func(n string) bool { return !slices.Contains(required, n) })
	}
	return common
}
