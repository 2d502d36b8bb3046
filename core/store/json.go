package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/fault"
)

// toJSON gives an attribute value as encoding/json writes it, with every digit of its numbers.
func toJSON(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberB:
		return v.Value
	case *types.AttributeValueMemberM:
		m := make(map[string]any, len(v.Value))
		for k, e := range v.Value {
			m[k] = toJSON(e)
		}
		return m
	case *types.AttributeValueMemberL:
		l := make([]any, len(v.Value))
		for i, e := range v.Value {
			l[i] = toJSON(e)
		}
		return l
	case *types.AttributeValueMemberSS:
		return v.Value
	case *types.AttributeValueMemberNS:
		l := make([]any, len(v.Value))
		for i, n := range v.Value {
			l[i] = json.Number(n)
		}
		return l
	case *types.AttributeValueMemberBS:
		return v.Value
	}
	return nil
}

// maxDepth is how deep lists and maps may nest in an attribute (DynamoDB: nested attribute depth).
const maxDepth = 32

// fromJSON gives a JSON text as an attribute value. Faults: Invalid for what DynamoDB cannot hold, naming its place.
func fromJSON(data []byte) (types.AttributeValue, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "read JSON")
	}
	return fromValue(v, 1)
}

func fromValue(v any, depth int) (types.AttributeValue, error) {
	if depth > maxDepth {
		return nil, fault.New(fault.Invalid, "is nested more than %d levels deep", maxDepth)
	}
	switch v := v.(type) {
	case string:
		return &types.AttributeValueMemberS{Value: v}, nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, nil
	case json.Number:
		return fromNumber(v.String())
	case map[string]any:
		m := make(map[string]types.AttributeValue, len(v))
		for k, e := range v {
			value, err := fromValue(e, depth+1)
			if err != nil {
				return nil, fault.Wrap(fault.CodeOf(err), err, "%s", k)
			}
			m[k] = value
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	case []any:
		l := make([]types.AttributeValue, len(v))
		for i, e := range v {
			value, err := fromValue(e, depth+1)
			if err != nil {
				return nil, fault.Wrap(fault.CodeOf(err), err, "[%d]", i)
			}
			l[i] = value
		}
		return &types.AttributeValueMemberL{Value: l}, nil
	}
	return &types.AttributeValueMemberNULL{Value: true}, nil
}

// fromNumber gives a JSON number, digit for digit. DynamoDB's have at most 38 significant digits, the first of them at 1e-130 to
// 1e125.
func fromNumber(n string) (types.AttributeValue, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	first := power - len(fraction) + len(digits) - 1
	if digits != "" && (err != nil || len(strings.TrimRight(digits, "0")) > 38 || first > 125 || first < -130) {
		return nil, fault.New(fault.Invalid, "the number %.50s cannot be stored: at most 38 digits, from 1e-130 to below 1e126", n)
	}
	if digits == "" {
		n = "0" // also 0e999, whose exponent the service would refuse
	}
	return &types.AttributeValueMemberN{Value: n}, nil
}
