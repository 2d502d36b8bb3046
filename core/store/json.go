package store

import (
	"bytes"
	"encoding/json"
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
	}
	return nil
}

// fromJSON gives a JSON text as an attribute value. Faults: Invalid for a number that DynamoDB cannot hold.
func fromJSON(data []byte) (types.AttributeValue, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "read JSON")
	}
	return fromValue(v)
}

func fromValue(v any) (types.AttributeValue, error) {
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
			value, err := fromValue(e)
			if err != nil {
				return nil, fault.Wrap(fault.CodeOf(err), err, "%s", k)
			}
			m[k] = value
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	case []any:
		l := make([]types.AttributeValue, len(v))
		for i, e := range v {
			value, err := fromValue(e)
			if err != nil {
				return nil, fault.Wrap(fault.CodeOf(err), err, "[%d]", i)
			}
			l[i] = value
		}
		return &types.AttributeValueMemberL{Value: l}, nil
	}
	return &types.AttributeValueMemberNULL{Value: true}, nil
}

// DynamoDB's numbers have at most 38 digits and exponents from -130 to 125.
func fromNumber(n string) (types.AttributeValue, error) {
	digits := strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(strings.ToLower(strings.SplitN(strings.ToLower(n), "e", 2)[0])), "0")
	f, err := json.Number(n).Float64()
	if len(digits) > 38 || err != nil || f != 0 && (abs(f) > 9.9999e125 || abs(f) < 1e-130) {
		return nil, fault.New(fault.Invalid, "the number %.50s cannot be stored: at most 38 digits, from 1e-130 to 9.9e125", n)
	}
	return &types.AttributeValueMemberN{Value: n}, nil
}

func abs(f float64) float64 { return max(f, -f) }
