package fake

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/steadfast-agents/steadfast/internal/fake/attr"
)

// Limits of DynamoDB.
const (
	MaxItemBytes        = 400 * 1024      // item size
	MaxTransactionItems = 100             // actions in one transaction
	MaxTransactionBytes = 4 * 1024 * 1024 // aggregate size of one transaction
	MaxPageBytes        = 1024 * 1024     // one page of a query, before its filter
	MaxBatchGet         = 100             // keys in BatchGetItem
	MaxBatchWrite       = 25              // requests in BatchWriteItem
	MaxHashBytes        = 2048            // partition key value
	MaxSortBytes        = 1024            // sort key value
)

// tokenLife is how long a ClientRequestToken is remembered.
const tokenLife = 10 * time.Minute

// Dynamo is a DynamoDB in memory, with the methods of *dynamodb.Client that the store uses. Expressions are really
// evaluated, and everything that the service refuses is refused with its error type. Items past their time to live stay
// until DeleteExpired is called. No row handed in or out shares memory with the table.
//
// Without a table (the zero value) any table name means a table of the usual shape: pk and sk, and the index "due" of
// duePk and dueSk, keys only. Once a table was made by NewDynamo or CreateTable, others are unknown.
type Dynamo struct {
	World *World
	Now   func() time.Time // for the life of request tokens; nil: they never end

	PageItems int // rows looked at for one page of a query; 0: as many as MaxPageBytes holds
	BatchMax  int // requests done by one batch call, the rest is unprocessed; 0: all
	IndexLag  int // how many of the latest changes a query of an index does not see yet, at most 1000
	StaleRead int // how many of the latest changes a read without ConsistentRead does not see yet, at most 1000

	mu     sync.Mutex
	tables map[string]*table
	strict bool // only tables that were made exist
	tokens map[string]token
	units  Units
	meter  map[string]Units // what the call at hand used, by table
}

// token remembers a transaction by its ClientRequestToken.
type token struct {
	request string
	at      time.Time
}

// NewDynamo makes a Dynamo with tables of the usual shape (see Dynamo) and no others.
func NewDynamo(tables ...string) *Dynamo {
	d := &Dynamo{strict: true}
	for _, name := range tables {
		d.add(usualTable(name))
	}
	return d
}

func (d *Dynamo) add(t *table) {
	if d.tables == nil {
		d.tables = map[string]*table{}
	}
	d.tables[t.name] = t
}

// table finds a table, or makes one of the usual shape if none was ever made on purpose.
func (d *Dynamo) table(name *string) (*table, error) {
	if aws.ToString(name) == "" {
		return nil, attr.Refuse("Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	}
	t := d.tables[*name]
	if t == nil && !d.strict {
		t = usualTable(*name)
		d.add(t)
	}
	if t == nil {
		return nil, &types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Table: " + *name + " not found")}
	}
	return t, nil
}

// CreateTable makes a table that can be used at once. Faults: ValidationException, ResourceInUseException.
func (d *Dynamo) CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	return call(ctx, d, "CreateTable", aws.ToString(in.TableName), func() (*dynamodb.CreateTableOutput, error) {
		t, err := newTable(in)
		if err != nil {
			return nil, err
		}
		if d.strict && d.tables[t.name] != nil {
			return nil, &types.ResourceInUseException{Message: aws.String("Table already exists: " + t.name)}
		}
		d.strict = true
		d.add(t)
		return &dynamodb.CreateTableOutput{TableDescription: t.describe()}, nil
	})
}

// DescribeTable gives name, keys and status of a table. Faults: ResourceNotFoundException.
func (d *Dynamo) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return call(ctx, d, "DescribeTable", aws.ToString(in.TableName), func() (*dynamodb.DescribeTableOutput, error) {
		t, err := d.table(in.TableName)
		if err != nil {
			return nil, err
		}
		return &dynamodb.DescribeTableOutput{Table: t.describe()}, nil
	})
}

// call makes one operation: through the world, alone on the tables, with the errors of the service.
func call[T any](ctx context.Context, d *Dynamo, operation, note string, effect func() (T, error)) (T, error) {
	out, err := through(ctx, d.World, "dynamo."+operation, note, func() (T, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.meter = map[string]Units{}
		defer d.settle()
		return effect()
	})
	if err != nil {
		var none T
		return none, dynamoError(operation, err)
	}
	return out, nil
}

// unsupported refuses the parameters that came before expressions.
func unsupported(legacy ...bool) error {
	for _, used := range legacy {
		if used {
			return errors.New("fake: parameters from before expressions (Expected, AttributesToGet, KeyConditions, ...) are not supported")
		}
	}
	return nil
}
