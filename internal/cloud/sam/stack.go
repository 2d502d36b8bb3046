// Package sam reads template.yaml and gives it as a Stack: every function, route, rule, schedule, queue, table
// and permission with its parameters resolved, as CloudFormation would after the SAM transform. It reads the
// subset that the project's template uses and names what it does not know; it never guesses and starts nothing.
package sam

import "time"

// Stack is a resolved template. Maps are keyed by logical id.
type Stack struct {
	Region, Account string
	Functions       []Function // in template order
	HTTP            *HTTPAPI   // nil: none
	WebSocket       *WebSocketAPI
	Rules           []Rule
	Schedules       []Schedule
	Tables          []Table
	Queues          []Queue
	ScheduleGroups  []string // of EventBridge Scheduler, without "default"
	Buses           []string // names of buses that exist, always with "default"
	Customs         []Custom
	Outputs         map[string]string
}

// Custom is one Custom:: resource, which a function looks after.
type Custom struct {
	LogicalID, Kind string
	Function        string // Function.Name of the ServiceToken
}

// Function is one AWS::Serverless::Function.
type Function struct {
	LogicalID string
	Name      string // folder under functions/, for example run-turn: also its name at run time
	Dir       string // CodeUri, relative to the template
	Memory    int    // MB
	Timeout   time.Duration
	Env       map[string]string
	Policies  []Statement
	Async     AsyncConfig
	URL       *FunctionURL // nil: it has none
}

// FunctionURL is FunctionUrlConfig: an address of the function's own, open to everybody, whose answers are streamed.
type FunctionURL struct {
	Address string // https://, with a slash at the end
	CORS    CORS
}

// AsyncConfig is EventInvokeConfig: how asynchronous invocations are retried and where they end.
type AsyncConfig struct {
	MaxRetries int           // 0 to 2, default 2
	MaxAge     time.Duration // default 6 h
	OnFailure  string        // ARN of a queue, empty: none
}

// Statement is one Allow of a policy; wildcards stand as in IAM.
type Statement struct {
	Actions, Resources []string
}

// HTTPAPI is the one AWS::Serverless::HttpApi.
type HTTPAPI struct {
	LogicalID, ID string
	Routes        []HTTPRoute
	JWT           JWT
	CORS          CORS
}

// HTTPRoute is a method and a path with {parameters}.
type HTTPRoute struct {
	Method, Path, Function string // Function is a Function.Name
	Auth                   bool   // false: authorizer NONE
}

// JWT is the default authorizer.
type JWT struct {
	Issuer   string
	Audience []string
}

// CORS is CorsConfiguration.
type CORS struct {
	Origins, Methods, Headers []string
	Expose                    []string // headers of an answer that a page may read
	MaxAge                    int      // seconds
}

// WebSocketAPI is the one AWS::Serverless::WebSocketApi.
type WebSocketAPI struct {
	LogicalID, ID, Stage string
	Authorizer           string            // Function.Name of the $connect authorizer, empty: none
	IdentitySource       []string          // required sources; a missing one is 401 without a call
	RouteSelection       string            // for example $request.body.action
	Routes               map[string]string // route key -> Function.Name
	Timeouts             map[string]time.Duration
}

// Rule is one EventBridge rule with a function as its target.
type Rule struct {
	Name, Bus   string
	Pattern     []byte // JSON
	Function    string
	MaxRetries  int           // 0 to 185
	MaxAge      time.Duration // 60 s to 24 h
	DeadLetters string        // ARN of a queue, empty: none
}

// Schedule is one ScheduleV2 event of a function.
type Schedule struct {
	Name, Expression, TimeZone string
	Function                   string
	Input                      []byte // JSON, empty: the service's own
	Recurring                  bool   // rate() and cron(), as against at()
}

// Table is one DynamoDB table, with what CreateTable needs.
type Table struct {
	LogicalID, Name  string
	HashKey, SortKey string
	TTLAttribute     string
	Indexes          []Index
}

// Index is a global secondary index.
type Index struct {
	Name, HashKey, SortKey string
	KeysOnly               bool
}

// Queue is one SQS queue.
type Queue struct{ LogicalID, Name, ARN, URL string }
