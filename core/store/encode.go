package store

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/key"
)

// encode makes a row of v's fields and the key. Faults: Internal.
func encode(k key.Key, entity string, v any) (item, error) {
	row := make(item, reflect.TypeOf(v).NumField()+3)
	if err := fields(row, reflect.ValueOf(v)); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode %s", describe(k))
	}
	row[key.PK], row[key.SK] = &types.AttributeValueMemberS{Value: k.PK}, &types.AttributeValueMemberS{Value: k.SK}
	row["entity"] = &types.AttributeValueMemberS{Value: entity}
	return row, nil
}

// fields encodes the fields of a struct, those of embedded ones included, as attributevalue does.
func fields(row item, v reflect.Value) (err error) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			if err = fields(row, v.Field(i)); err != nil {
				return err
			}
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if options == "omitempty" && empty(v.Field(i)) {
			continue
		}
		if row[name], err = attribute(v.Field(i).Interface()); err != nil {
			return err
		}
	}
	return nil
}

// decode reads a row into v. Faults: Internal.
func decode(row item, v any) error {
	if err := attributevalue.UnmarshalMap(row, v); err != nil {
		return fault.Wrap(fault.Internal, err, "decode a row")
	}
	return nil
}

// attribute gives a value as an attribute.
func attribute(v any) (types.AttributeValue, error) {
	if av, ok := v.(types.AttributeValue); ok {
		return av, nil
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		return &types.AttributeValueMemberS{Value: r.String()}, nil
	case reflect.Int, reflect.Int64:
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(r.Int(), 10)}, nil
	case reflect.Bool:
		return &types.AttributeValueMemberBOOL{Value: r.Bool()}, nil
	}
	return attributevalue.Marshal(v)
}

// diff gives what must be set and removed to turn the row of one value of a struct into that of the other. Only fields that
// differ are encoded.
func diff[T any](from, to T) (set item, remove []string, err error) {
	set = item{}
	a, b := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range a.NumField() {
		if same(a.Field(i), b.Field(i)) {
			continue
		}
		name, options, _ := strings.Cut(a.Type().Field(i).Tag.Get("dynamodbav"), ",")
		if options == "omitempty" && empty(b.Field(i)) {
			if !empty(a.Field(i)) {
				remove = append(remove, name)
			}
			continue
		}
		if set[name], err = attribute(b.Field(i).Interface()); err != nil {
			return nil, nil, err
		}
	}
	return set, remove, nil
}

// same reports whether two values of a field are one in the row.
func same(a, b reflect.Value) bool {
	if a.Comparable() && a.Kind() != reflect.Pointer {
		return a.Equal(b)
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// empty reports whether omitempty leaves a field out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}
