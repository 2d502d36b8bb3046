package attr

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ItemSize is the number of bytes DynamoDB counts for an item: names and values.
func ItemSize(item Item) int {
	size := 0
	for name, v := range item {
		size += len(name) + Size(v)
	}
	return size
}

// Size is the number of bytes DynamoDB counts for one value: the bytes of strings and binaries, half a byte a digit and
// one more for numbers, 1 for BOOL and NULL, 3 for a list or map and 1 more for each element.
func Size(v Value) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		n, _ := ParseNumber(v.Value)
		return n.size()
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + ItemSize(v.Value)
	case *types.AttributeValueMemberL:
		return 3 + len(v.Value) + sizes(v.Value)
	}
	if IsSet(v) {
		return sizes(Elements(v))
	}
	return 1
}

func sizes(values []Value) int {
	sum := 0
	for _, v := range values {
		sum += Size(v)
	}
	return sum
}

// Text writes v in a short stable form for goldens and failure messages: strings quoted, numbers bare, binaries as
// b64"...", sets as ss{...}, ns{...}, bs{...}, map fields in order of their names.
func Text(v Value) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value)
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return `b64"` + base64.StdEncoding.EncodeToString(v.Value) + `"`
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberL:
		return "[" + texts(v.Value) + "]"
	case *types.AttributeValueMemberM:
		return "{" + fields(v.Value) + "}"
	}
	if IsSet(v) {
		return strings.ToLower(Type(v)) + "{" + texts(Elements(v)) + "}"
	}
	return fmt.Sprintf("(%T)", v)
}

func texts(values []Value) string { return strings.Join(collect(values, Text), ", ") }

func fields(m map[string]Value) string {
	parts := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, strconv.Quote(name)+": "+Text(m[name]))
	}
	return strings.Join(parts, ", ")
}
