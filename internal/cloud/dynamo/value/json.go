package value

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Fault is a value that DynamoDB refuses: the text of its ValidationException.
type Fault string

func (f Fault) Error() string { return string(f) }

func faultf(format string, args ...any) error { return Fault(fmt.Sprintf(format, args...)) }

// UnmarshalJSON reads the wire form, for example {"S":"x"}. It refuses what DynamoDB refuses with a Fault; any other error
// means that the JSON has the wrong form.
func (v *Value) UnmarshalJSON(b []byte) error {
	out, err := decode(b, 0)
	if err == nil {
		*v = out
	}
	return err
}

func decode(b []byte, depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, faultf("Nesting Levels have exceeded supported limits: maximum %d", MaxDepth)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return Value{}, err
	}
	if len(raw) == 0 {
		return Value{}, faultf("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	if len(raw) > 1 {
		return Value{}, faultf("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	}
	for kind, body := range raw {
		return decodeKind(Kind(kind), body, depth)
	}
	return Value{}, errors.New("unreachable")
}

func decodeKind(kind Kind, b json.RawMessage, depth int) (Value, error) {
	v := Value{Kind: kind}
	var err error
	switch kind {
	case String:
		v.Str, err = decodeText(b)
	case Number:
		v.Num, err = decodeNumber(b)
	case Binary:
		v.Str, err = decodeBinary(b)
	case Bool:
		err = json.Unmarshal(b, &v.Bool)
	case Null:
		var yes bool
		if err = json.Unmarshal(b, &yes); err == nil && !yes {
			err = faultf("One or more parameter values were invalid: Null attribute value types must have the value of true")
		}
	case List:
		v.List, err = decodeList(b, depth)
	case Map:
		v.Map, err = decodeMap(b, depth)
	case StringSet:
		v.Set, err = decodeSet(b, decodeText)
	case BinarySet:
		v.Set, err = decodeSet(b, decodeBinary)
	case NumberSet:
		v.Nums, err = decodeNumberSet(b)
	default:
		return Value{}, faultf("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	return v, err
}

func decodeText(b json.RawMessage) (string, error) {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return "", err
	}
	if s == nil || !utf8.Valid(b) {
		return "", errors.New("a string is due")
	}
	return *s, nil
}

func decodeNumber(b json.RawMessage) (Decimal, error) {
	s, err := decodeText(b)
	if err != nil {
		return Decimal{}, err
	}
	return ParseDecimal(s)
}

func decodeBinary(b json.RawMessage) (string, error) {
	s, err := decodeText(b)
	if err != nil {
		return "", err
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	return string(raw), err
}

func decodeList(b json.RawMessage, depth int) ([]Value, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	out := make([]Value, len(raw))
	for i, e := range raw {
		v, err := decode(e, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func decodeMap(b json.RawMessage, depth int) (map[string]Value, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	out := make(map[string]Value, len(raw))
	for k, e := range raw {
		v, err := decode(e, depth+1)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

func decodeSet(b json.RawMessage, one func(json.RawMessage) (string, error)) ([]string, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	out := make([]string, len(raw))
	for i, e := range raw {
		s, err := one(e)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	slices.Sort(out)
	return out, checkSet(len(out), len(slices.Compact(slices.Clone(out))))
}

func decodeNumberSet(b json.RawMessage) ([]Decimal, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	out := make([]Decimal, len(raw))
	for i, e := range raw {
		d, err := decodeNumber(e)
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	slices.SortFunc(out, Decimal.Cmp)
	return out, checkSet(len(out), len(slices.Compact(slices.Clone(out))))
}

func checkSet(given, distinct int) error {
	switch {
	case given == 0:
		return faultf("One or more parameter values were invalid: An number set, string set or binary set may not be empty")
	case distinct < given:
		return faultf("One or more parameter values were invalid: Input collection contains duplicates.")
	}
	return nil
}

// MarshalJSON writes the wire form.
func (v Value) MarshalJSON() ([]byte, error) {
	var body any
	switch v.Kind {
	case String:
		body = v.Str
	case Number:
		body = v.Num.String()
	case Binary:
		body = []byte(v.Str)
	case Bool:
		body = v.Bool
	case Null:
		body = true
	case List:
		body = append([]Value{}, v.List...)
	case Map:
		body = v.Map
	case StringSet:
		body = v.Set
	case BinarySet:
		bin := make([][]byte, len(v.Set))
		for i, s := range v.Set {
			bin[i] = []byte(s)
		}
		body = bin
	case NumberSet:
		nums := make([]string, len(v.Nums))
		for i, d := range v.Nums {
			nums[i] = d.String()
		}
		body = nums
	default:
		return nil, fmt.Errorf("write a value of kind %q", v.Kind)
	}
	return encode(v.Kind, body)
}

// encode leaves <, > and & as they are, so that stored text keeps its length.
func encode(kind Kind, body any) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(`{"` + string(kind) + `":`)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	buf.Truncate(buf.Len() - 1) // the newline of Encode
	buf.WriteByte('}')
	return buf.Bytes(), nil
}
