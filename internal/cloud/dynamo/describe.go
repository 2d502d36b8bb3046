package dynamo

import (
	"maps"
	"slices"
)

type tableRequest struct {
	TableName string
}

func (f *Front) describeTable(body []byte) (any, error) {
	var r tableRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	t, err := f.table(r.TableName)
	if err != nil {
		return nil, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return map[string]any{"Table": f.description(t)}, nil
}

func (f *Front) description(t *table) map[string]any {
	attributes := map[string]bool{}
	for _, x := range append([]*index{t.rows}, t.indexes...) {
		for _, n := range names(x.hash, x.sort) {
			attributes[n] = true
		}
	}
	var definitions []map[string]any
	for _, n := range slices.Sorted(maps.Keys(attributes)) {
		definitions = append(definitions, map[string]any{"AttributeName": n, "AttributeType": t.kind(n)})
	}
	out := map[string]any{
		"TableName": t.spec.Name, "TableStatus": "ACTIVE", "TableArn": f.arn(t),
		"KeySchema": keySchema(t.rows), "AttributeDefinitions": definitions,
		"ItemCount": t.count, "TableSizeBytes": t.bytes,
		"BillingModeSummary": map[string]any{"BillingMode": "PAY_PER_REQUEST"},
	}
	var indexes []map[string]any
	for _, x := range t.indexes {
		projection := "ALL"
		if x.keysOnly {
			projection = "KEYS_ONLY"
		}
		indexes = append(indexes, map[string]any{
			"IndexName": x.name, "IndexStatus": "ACTIVE", "IndexArn": f.arn(t) + "/index/" + x.name,
			"KeySchema": keySchema(x), "Projection": map[string]any{"ProjectionType": projection},
		})
	}
	if indexes != nil {
		out["GlobalSecondaryIndexes"] = indexes
	}
	return out
}

func (f *Front) arn(t *table) string {
	return "arn:aws:dynamodb:" + f.cfg.Region + ":" + f.cfg.Account + ":table/" + t.spec.Name
}

func keySchema(x *index) []map[string]any {
	out := []map[string]any{{"AttributeName": x.hash, "KeyType": "HASH"}}
	if x.sort != "" {
		out = append(out, map[string]any{"AttributeName": x.sort, "KeyType": "RANGE"})
	}
	return out
}

func (f *Front) describeTTL(body []byte) (any, error) {
	var r tableRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	t, err := f.table(r.TableName)
	if err != nil {
		return nil, err
	}
	d := map[string]any{"TimeToLiveStatus": "DISABLED"}
	if t.spec.TTLAttribute != "" {
		d = map[string]any{"TimeToLiveStatus": "ENABLED", "AttributeName": t.spec.TTLAttribute}
	}
	return map[string]any{"TimeToLiveDescription": d}, nil
}

func (f *Front) listTables(body []byte) (any, error) {
	var r struct {
		ExclusiveStartTableName string
		Limit                   int
	}
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	all := slices.Sorted(maps.Keys(f.tables))
	all = slices.DeleteFunc(all, func(n string) bool { return n <= r.ExclusiveStartTableName })
	out := map[string]any{"TableNames": all}
	if r.Limit > 0 && r.Limit < len(all) {
		out = map[string]any{"TableNames": all[:r.Limit], "LastEvaluatedTableName": all[r.Limit-1]}
	}
	return out, nil
}
