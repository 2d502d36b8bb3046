// Package dynamo is the local DynamoDB: the JSON protocol (X-Amz-Target DynamoDB_20120810.*) over the template's
// tables, kept in memory in key order and, with a data folder, in a journal that is on disk before an answer leaves.
//
// It is as strict as DynamoDB where that matters to a program: item, page, batch and transaction limits, empty keys,
// reserved words and unused placeholders, exact 38-digit numbers, the old item of a failed condition, cancellation
// reasons in order, request tokens, sparse and keys-only indexes, start keys of rows that are gone, and the checksum
// header. Writes are serialized; a reader never sees what a crash could take back. The legacy parameters (Expected,
// KeyConditions, ...), streams, local indexes, PartiQL and table management are refused, never half done.
package dynamo

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/dynamo/journal"
	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// Target is the prefix of the X-Amz-Target header that belongs to this service.
const Target = "DynamoDB_20120810."

// maxBody is the most bytes of one request, as DynamoDB has it.
const maxBody = 16 << 20

// Config says which tables there are and where they are kept.
type Config struct {
	Tables  []sam.Table
	Region  string           // of the table ARNs, default us-east-1
	Account string           // default 000000000000
	Data    string           // folder of the journal, made if missing; empty: in memory
	Log     *slog.Logger     // nil: discarded
	Now     func() time.Time // for expiry and request tokens, default time.Now

	// TTLDelay is how long after its expiry a row is still there to be seen, default 10 minutes; DynamoDB promises no
	// more than "within days". Negative keeps expired rows for good.
	TTLDelay time.Duration
	// Fault, when set, is asked before each operation (tests): what it returns happens instead of, or after, the operation.
	Fault func(operation string, body []byte) Fault
}

// Fault is a failure to inject. The zero value is none.
type Fault struct {
	Code, Message string // an error answer of this code; the operation does not happen
	DropAnswer    bool   // the operation happens, and the connection breaks before its answer
}

// Front serves the tables. It is an http.Handler, safe for concurrent use.
type Front struct {
	cfg     Config
	tables  map[string]*table
	journal *journal.Journal
	stop    chan struct{}
	closed  sync.Once
	ended   sync.WaitGroup

	mu      sync.RWMutex // over all rows of all tables, and tokens
	tokens  map[string]token
	orphans []recordRow // of tables that the template no longer has
}

// Open builds the tables and replays the journal. It fails on a damaged journal, naming the line. Rows of tables that
// the template no longer has are kept, unseen.
func Open(cfg Config) (*Front, error) {
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if cfg.Account == "" {
		cfg.Account = "000000000000"
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.TTLDelay == 0 {
		cfg.TTLDelay = 10 * time.Minute
	}
	f := &Front{cfg: cfg, tables: map[string]*table{}, tokens: map[string]token{}, stop: make(chan struct{})}
	for _, t := range cfg.Tables {
		f.tables[t.Name] = newTable(t)
	}
	if cfg.Data != "" {
		j, err := journal.Open(cfg.Data, "dynamodb", f.replay)
		if err != nil {
			return nil, fmt.Errorf("open tables: %w", err)
		}
		f.journal = j
	}
	f.ended.Go(f.reapLoop)
	return f, nil
}

// Close writes what is pending and ends; it may be called twice. With a data folder, later writes are answered with an error.
func (f *Front) Close() error {
	f.closed.Do(func() { close(f.stop) })
	f.ended.Wait()
	return f.journal.Close()
}

// operation answers one request: a value to be written as JSON, or an error.
type operation func(f *Front, body []byte) (any, error)

func operationOf(name string) (operation, bool) {
	op, ok := map[string]operation{
		"GetItem":            (*Front).getItem,
		"PutItem":            (*Front).putItem,
		"UpdateItem":         (*Front).updateItem,
		"DeleteItem":         (*Front).deleteItem,
		"Query":              (*Front).query,
		"Scan":               (*Front).scan,
		"BatchGetItem":       (*Front).batchGet,
		"BatchWriteItem":     (*Front).batchWrite,
		"TransactGetItems":   (*Front).transactGet,
		"TransactWriteItems": (*Front).transactWrite,
		"DescribeTable":      (*Front).describeTable,
		"DescribeTimeToLive": (*Front).describeTTL,
		"ListTables":         (*Front).listTables,
	}[name]
	return op, ok
}

// ServeHTTP answers one call of the JSON protocol.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), Target)
	op, ok := operationOf(name)
	if !ok {
		answer(w, nil, &apiError{Code: "UnknownOperationException", Message: fmt.Sprintf("the local DynamoDB does not offer %q", name)})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		answer(w, nil, &apiError{Code: "SerializationException", Message: "the request could not be read, or is larger than 16 MB"})
		return
	}
	fault := f.fault(name, body)
	if fault.Code != "" {
		answer(w, nil, &apiError{Code: fault.Code, Message: fault.Message})
		return
	}
	out, err := op(f, body)
	if fault.DropAnswer {
		panic(http.ErrAbortHandler) // net/http breaks the connection and logs nothing
	}
	if err != nil && isInternal(err) {
		f.cfg.Log.Error("dynamodb failed", "operation", name, "error", err)
	}
	answer(w, out, err)
}

func (f *Front) fault(name string, body []byte) Fault {
	if f.cfg.Fault == nil {
		return Fault{}
	}
	return f.cfg.Fault(name, body)
}

// table finds a table by its name or its ARN.
func (f *Front) table(name string) (*table, error) {
	if i := strings.LastIndex(name, ":table/"); i >= 0 {
		name = name[i+len(":table/"):]
	}
	if name == "" {
		return nil, validation("The parameter 'TableName' is required but was not present in the request")
	}
	t, ok := f.tables[name]
	if !ok {
		return nil, &apiError{Code: "ResourceNotFoundException", Message: "Requested resource not found: Table: " + name + " not found"}
	}
	return t, nil
}

// decode reads a request and refuses fields that this service does not act on.
func decode(body []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return decodeError(err)
	}
	return nil
}
