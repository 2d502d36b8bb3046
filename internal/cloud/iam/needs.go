package iam

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// tableNeeds maps a DynamoDB operation. A transaction needs the permissions of its parts, a batch its own on each table.
func (g *Guard) tableNeeds(operation string, body []byte) []need {
	var in struct {
		TableName, IndexName string
		RequestItems         map[string]json.RawMessage
		TransactItems        []map[string]struct{ TableName string }
	}
	if json.Unmarshal(body, &in) != nil {
		return nil // the service refuses it
	}
	switch operation {
	case "TransactWriteItems", "TransactGetItems":
		return g.transactNeeds(in.TransactItems)
	case "BatchGetItem", "BatchWriteItem":
		var out []need
		for table := range in.RequestItems {
			out = append(out, need{"dynamodb:" + operation, g.tableARN(table)})
		}
		return out
	case "ListTables":
		return []need{{"dynamodb:" + operation, "*"}}
	}
	resource := g.tableARN(in.TableName)
	if in.IndexName != "" {
		resource += "/index/" + in.IndexName
	}
	return []need{{"dynamodb:" + operation, resource}}
}

func (g *Guard) transactNeeds(items []map[string]struct{ TableName string }) []need {
	actions := map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem", "Get": "GetItem"}
	var out []need
	for _, item := range items {
		for kind, part := range item {
			if n := (need{"dynamodb:" + actions[kind], g.tableARN(part.TableName)}); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

func (g *Guard) tableARN(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return g.arn("dynamodb", "table/"+name)
}

func (g *Guard) busNeeds(operation string, body []byte) []need {
	var in struct {
		Entries []struct{ EventBusName string }
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	var out []need
	for _, e := range in.Entries {
		resource := e.EventBusName
		if resource == "" {
			resource = "default"
		}
		if !strings.HasPrefix(resource, "arn:") {
			resource = g.arn("events", "event-bus/"+resource)
		}
		if n := (need{"events:" + operation, resource}); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (g *Guard) queueNeeds(operation string, body []byte) []need {
	var in struct{ QueueUrl, QueueName string }
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	name := in.QueueUrl[strings.LastIndex(in.QueueUrl, "/")+1:] + in.QueueName
	if name == "" {
		return []need{{"sqs:" + operation, "*"}}
	}
	for _, q := range g.stack.Queues {
		if q.Name == name {
			return []need{{"sqs:" + operation, q.ARN}}
		}
	}
	return []need{{"sqs:" + operation, g.arn("sqs", name)}}
}

func (g *Guard) parameterNeeds(operation string, body []byte) []need {
	var in struct{ Name string }
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	return []need{{"ssm:" + operation, g.arn("ssm", "parameter/"+strings.TrimPrefix(in.Name, "/"))}}
}

// restNeeds maps the services that are known by their paths.
func (g *Guard) restNeeds(r *http.Request, body []byte) []need {
	parts := pathParts(r.URL)
	switch {
	case len(parts) == 3 && parts[1] == "@connections":
		return []need{{"execute-api:ManageConnections", g.connectionARN(parts[0], r.Method, parts[2])}}
	case len(parts) == 3 && parts[0] == "model":
		return append(g.modelNeeds(parts[1], parts[2]), g.guardrailNeeds(body)...)
	case len(parts) > 0 && (parts[0] == "schedules" || parts[0] == "schedule-groups"):
		return g.scheduleNeeds(r, parts, body)
	case len(parts) == 4 && parts[1] == "functions" && parts[3] == "invocations":
		return []need{{"lambda:InvokeFunction", g.functionARN(parts[2])}}
	}
	return nil
}

// pathParts splits before unescaping, so that an escaped slash stays inside its part.
func pathParts(u *url.URL) []string {
	var out []string
	for _, p := range strings.Split(strings.Trim(u.EscapedPath(), "/"), "/") {
		s, err := url.PathUnescape(p)
		if err != nil {
			s = p
		}
		out = append(out, s)
	}
	return out
}

func (g *Guard) connectionARN(stage, method, id string) string {
	api := "*"
	if g.stack.WebSocket != nil {
		api = g.stack.WebSocket.ID
	}
	return g.arn("execute-api", api+"/"+stage+"/"+method+"/@connections/"+id)
}

func (g *Guard) functionARN(name string) string {
	if strings.HasPrefix(name, "arn:") {
		return name
	}
	return g.arn("lambda", "function:"+name)
}

// modelNeeds asks for the model, and for both the profile and its model when the id is that of an inference profile.
func (g *Guard) modelNeeds(id, operation string) []need {
	action := map[string]string{
		"converse": "bedrock:InvokeModel", "invoke": "bedrock:InvokeModel",
		"converse-stream": "bedrock:InvokeModelWithResponseStream", "invoke-with-response-stream": "bedrock:InvokeModelWithResponseStream",
		"count-tokens": "bedrock:CountTokens",
	}[operation]
	if action == "" {
		return nil
	}
	if strings.HasPrefix(id, "arn:") {
		return []need{{action, id}}
	}
	scope, model, ok := strings.Cut(id, ".")
	if !ok || !slices.Contains([]string{"us", "eu", "apac", "jp", "au", "ca", "us-gov", "global"}, scope) {
		return []need{{action, g.modelARN(id)}}
	}
	return []need{{action, g.arn("bedrock", "inference-profile/"+id)}, {action, g.modelARN(model)}}
}

// guardrailNeeds asks for the guardrail that a request runs under.
func (g *Guard) guardrailNeeds(body []byte) []need {
	var asked struct {
		Config struct {
			ID string `json:"guardrailIdentifier"`
		} `json:"guardrailConfig"`
	}
	if json.Unmarshal(body, &asked) != nil || asked.Config.ID == "" {
		return nil
	}
	if strings.HasPrefix(asked.Config.ID, "arn:") {
		return []need{{"bedrock:ApplyGuardrail", asked.Config.ID}}
	}
	return []need{{"bedrock:ApplyGuardrail", g.arn("bedrock", "guardrail/"+asked.Config.ID)}}
}

func (g *Guard) modelARN(id string) string {
	return "arn:aws:bedrock:" + g.stack.Region + "::foundation-model/" + id
}

// scheduleNeeds maps Scheduler's operations; writing a schedule also passes its role on.
func (g *Guard) scheduleNeeds(r *http.Request, parts []string, body []byte) []need {
	verb := map[string]string{http.MethodPost: "Create", http.MethodPut: "Update", http.MethodGet: "Get", http.MethodDelete: "Delete"}[r.Method]
	kind := "Schedule"
	if parts[0] == "schedule-groups" {
		kind = "ScheduleGroup"
	}
	if len(parts) == 1 {
		return []need{{"scheduler:List" + kind + "s", "*"}}
	}
	if kind == "ScheduleGroup" {
		return []need{{"scheduler:" + verb + kind, g.arn("scheduler", "schedule-group/"+parts[1])}}
	}
	var in struct {
		GroupName string
		Target    struct{ RoleArn string }
	}
	_ = json.Unmarshal(body, &in) // the service refuses a body that is none
	group := in.GroupName
	if group == "" {
		group = r.URL.Query().Get("groupName")
	}
	if group == "" {
		group = "default"
	}
	out := []need{{"scheduler:" + verb + kind, g.arn("scheduler", "schedule/"+group+"/"+parts[1])}}
	if in.Target.RoleArn != "" {
		out = append(out, need{"iam:PassRole", in.Target.RoleArn})
	}
	return out
}
