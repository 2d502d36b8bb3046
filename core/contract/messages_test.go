package contract_test

import (
	"encoding/json"

	"github.com/steadfast-agents/steadfast/core/contract"
	"github.com/steadfast-agents/steadfast/core/task"
)

func ptr[T any](v T) *T { return &v }

var (
	user    = contract.Principal{Type: contract.UserPrincipal, ID: "user-1"}
	service = contract.Principal{Type: contract.SystemPrincipal, ID: "nightly report"}
	usage   = contract.Usage{InputTokens: 120, OutputTokens: 30, CacheReadTokens: 1000, CacheWriteTokens: 20, CostUSD: ptr(0.00125)}
)

func servers() map[string]contract.MCPServer {
	return map[string]contract.MCPServer{
		"blog": {URL: "https://mcp.example.com/mcp", Headers: map[string]string{"x-a": "${MCP_A}"}, AuthHeader: &contract.AuthHeader{Name: "x-auth", Value: "tok"},
			Disabled: true, ContinueOnError: true},
		"local": {Command: "npx", Args: []string{"-y", "server"}},
	}
}

// busMessages are the details of bus events and the bodies of HTTP answers.
func busMessages() map[string]any {
	return map[string]any{
		"create_agent_session": contract.CreateSession{SessionID: "s-1", UserID: "user-1", SystemPrompt: "You are terse.", ModelID: "us.amazon.nova-lite-v1:0",
			Temperature: ptr(0.0), MaxTokens: 512, Title: "Demo: é 😀 <b>", Tools: []string{"notebook"}, MCPServers: servers()},
		"create_agent_session.small":    contract.CreateSession{},
		"create_agent_session.no_tools": contract.CreateSession{SessionID: "s-1", Tools: []string{}},
		"run_agent_task": task.Request{TaskID: "t-1", Principal: service, Request: "Summarise\nthe week.", SessionID: "s-1", SystemPrompt: "Be brief.",
			ModelID: "m", Temperature: ptr(0.25), MaxTokens: 4096, Tools: []string{"notebook", "http"}, MCPServers: servers(),
			Trigger: &task.Trigger{Kind: "event", AgentID: "a-1", EventID: "e-1", DetailType: "Order Placed",
				Payload: json.RawMessage(`{"total":9007199254740993}`), Urgent: true},
			CreatedBy: "user-2", DeliveryID: "dlv_1", RootID: "t-0", Depth: 2, NotBefore: "2026-01-01T00:00:00.000Z"},
		"run_agent_task.small":         task.Request{TaskID: "t-1", Principal: user, Request: "do it"},
		"run_agent_turn":               contract.RunTurn{SessionID: "s-1", NotBefore: "2026-01-01T00:00:00.000Z"},
		"run_agent_turn.small":         contract.RunTurn{SessionID: "s-1"},
		"agent_task_completed":         contract.TaskCompleted{TaskID: "t-1", Status: "COMPLETED", Output: "the answer", Principal: service, Usage: &usage},
		"agent_task_completed.failed":  contract.TaskCompleted{TaskID: "t-1", Status: "FAILED", Error: "boom", Principal: user},
		"agent_task_completed.by_name": contract.TaskCompleted{TaskID: "t-1", Status: "COMPLETED", OutputRef: "ab12", Principal: user},
		"task_result":                  contract.TaskResult{TaskID: "t-1", Status: "COMPLETED", Output: "the answer"},
		"task_result.failed":           contract.TaskResult{TaskID: "t-1", Status: "FAILED", Error: "cancelled"},
		"send_message":                 contract.SendMessage{Message: "Hello", ContinuationToken: "tok", Admission: contract.Coalesce, DeliveryID: "dlv_1"},
		"send_message.files":           contract.SendMessage{Message: "Read it.", ContinuationToken: "tok", Files: map[string]string{"notes/today.md": "# Today\n"}},
		"send_agent_message": contract.SendAgentMessage{Channel: "hooks", SessionID: "s-1", ContinuationToken: "pr:1", Message: "Why?", Principal: service,
			Admission: contract.Reject, DeliveryID: "comment-1", Files: map[string]string{"diff.txt": "+1"}},
		"send_agent_message.small": contract.SendAgentMessage{Channel: "hooks", ContinuationToken: "pr:1", Message: "Why?", Principal: user},
		"agent_session_event":      contract.AgentSessionEvent{SessionEvent: event(contract.SessionWaiting{}), Channel: "hooks", ContinuationToken: "pr:1", Attempt: 2},
		"session_files":            contract.SessionFiles{Files: []contract.FileInfo{{Path: "a.md", Bytes: 2}, {Path: "report.md", Bytes: 1200, Artifact: "report"}}},
		"send_message.small":       contract.SendMessage{Message: "Hello", ContinuationToken: "tok"},
		"stop_session":             contract.StopSession{Clear: true},
		"delivery":                 contract.Delivery{DeliveryID: "dlv_1", SessionID: "s-1", ContinuationToken: "tok"},
		"schedule_event": contract.ScheduleEvent{Name: "pr:1", At: "2026-03-29T10:00", Delay: "1h30m", TimeZone: "Europe/Berlin", WhenPast: contract.WhenPastSkip,
			IfExists: contract.IfExistsKeep, Event: contract.ScheduledEvent{Source: "app", DetailType: "Review Is Due", Detail: json.RawMessage(`{"pr":9007199254740993}`)}},
		"schedule_event.small":   contract.ScheduleEvent{Delay: "90", Event: contract.ScheduledEvent{DetailType: "Review Is Due"}},
		"cancel_scheduled_event": contract.CancelScheduledEvent{Name: "pr:1"},
		"run_schedule":           contract.RunSchedule{ScheduleID: "heartbeat", At: "2026-01-01T09:00:00.000Z", Manual: true},
		"run_schedule.small":     contract.RunSchedule{ScheduleID: "heartbeat", At: "2026-01-01T09:00:00Z"},
		"schedule_ran":           contract.ScheduleRan{ScheduleID: "heartbeat", SessionIDs: []string{"s-1"}},
		"schedule_ran.failed":    contract.ScheduleRan{ScheduleID: "nope", SessionIDs: []string{}, Error: `there is no schedule "nope"`, Code: "not_found"},
		"resolve_agent_approval": contract.ResolveApproval{SessionID: "s-1", ActionID: "c1", Decision: contract.Approve, By: "user-1", Reason: "Fine."},
		"decide_approval":        contract.DecideApproval{Decision: contract.Deny, Reason: "Not yet."},
		"call_tool":              contract.CallTool{Input: map[string]json.RawMessage{"timezone": json.RawMessage(`"Europe/Berlin"`)}},
		"call_tool.small":        contract.CallTool{},
		"decide_approval.small":  contract.DecideApproval{Decision: contract.Approve},
		"approvals": contract.Approvals{Approvals: []contract.Approval{{
			ActionID: "c1", SessionID: "s-1", TurnID: "turn_3", Name: "approve_pr", Input: json.RawMessage(`{"pr":7}`), Status: "denied",
			RequestedAt: "2026-03-01T10:00:00.000Z", ExpiresAt: "2026-03-02T10:00:00.000Z", DecidedAt: "2026-03-01T11:00:00.000Z", By: "user-1", Reason: "Not yet.",
		}}},
		"error_body": contract.ErrorBody{Message: "title: 600 bytes, the limit is 512", Code: "invalid"},
	}
}

// socketMessages are the WebSocket's, from the client and to it.
func socketMessages() map[string]any {
	stream := func(body contract.StreamEventBody) contract.ServerMessage {
		return contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &body, TurnID: "turn_3", Fence: 2, Seq: ptr(int64(0)), Index: ptr(int64(0)), Offset: ptr(int64(0))}
	}
	return map[string]any{
		"client.message": contract.ClientMessage{Action: "message", Request: "Hello", SessionID: "s-1", UserID: "user-1", Admission: contract.Coalesce,
			DeliveryID: "dlv_1"},
		"client.message.small": contract.ClientMessage{Request: "Hello", SessionID: "s-1"},
		"client.stop":          contract.ClientMessage{Action: "stop", SessionID: "s-1", Clear: true},
		"client.subscribe":     contract.ClientMessage{Action: "subscribe", SessionID: "s-1", StartIndex: ptr(int64(0))},
		"client.decide":        contract.ClientMessage{Action: "decide", SessionID: "s-1", ActionID: "c1", Decision: contract.Deny, Reason: "Not yet."},
		"client.ping":          contract.ClientMessage{Action: "ping"},

		"server.data":             stream(contract.StreamEventBody{Data: ptr("")}),
		"server.data.small":       contract.ServerMessage{Type: contract.TypeStreamEvent, Event: &contract.StreamEventBody{Data: ptr("2see ")}},
		"server.current_tool_use": stream(contract.StreamEventBody{CurrentToolUse: &contract.ToolUseBody{Name: "lookup", ToolUseID: "tooluse_1"}}),
		"server.init_event_loop":  stream(contract.StreamEventBody{InitEventLoop: true}),
		"server.event_complete":   stream(contract.StreamEventBody{Complete: true}),
		"server.reset":            stream(contract.StreamEventBody{Reset: &contract.ResetBody{Attempt: 2}}),
		"server.approval": stream(contract.StreamEventBody{Approval: ptr(contract.ApprovalRequested{
			ActionID: "c1", Name: "approve_pr", Input: json.RawMessage(`{"pr":7}`), ExpiresAt: "2026-03-02T10:00:00.000Z",
		}.Body())}),
		"server.approval.resolved": stream(contract.StreamEventBody{Approval: ptr(contract.ApprovalResolved{
			ActionID: "c1", Name: "approve_pr", Decision: "denied", By: "user-1", Reason: "Not yet.",
		}.Body())}),
		"server.decided":        contract.ServerMessage{Type: contract.TypeDecided, SessionID: "s-1", ActionID: "c1", Status: "denied"},
		"server.complete":       contract.ServerMessage{Type: contract.TypeComplete, SessionID: "s-1", TurnID: "turn_3", DeliveryID: "dlv_1", Usage: &usage},
		"server.complete.small": contract.ServerMessage{Type: contract.TypeComplete, SessionID: "s-1"},
		"server.error":          contract.ServerMessage{Type: contract.TypeError, Error: "Internal server error", Message: "try again"},
		"server.pong":           contract.ServerMessage{Type: contract.TypePong},
		"server.subscribed":     contract.ServerMessage{Type: contract.TypeSubscribed, SessionID: "s-1", Index: ptr(int64(57)), Status: "running", More: true},
	}
}

func event(data contract.EventData) contract.SessionEvent {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	e := contract.SessionEvent{Type: data.EventType(), Index: 7, SessionID: "s-1", TurnID: "turn_3", At: "2026-01-01T00:00:00.250Z", Data: body}
	if _, ok := data.(contract.SessionStarted); ok {
		e.Index, e.TurnID = 0, ""
	}
	return e
}

// sessionEvents are all types of events of a session's stream, each with every field.
func sessionEvents() []contract.EventData {
	return []contract.EventData{
		contract.SessionStarted{Mode: "chat", Channel: "slack", Principal: user},
		contract.SessionWaiting{},
		contract.SessionCompleted{Result: "done"},
		contract.SessionFailed{Error: "worker_lost"},
		contract.MessageReceived{Text: "Hello", DeliveryIDs: []string{"dlv_1", "dlv_2"}},
		contract.NudgeDelivered{Text: "and quick", DeliveryID: "dlv_3"},
		contract.SubagentCalled{ID: "c1", Name: "researcher", Depth: 1, Request: "Find out."},
		contract.SubagentCompleted{ID: "c1", Name: "researcher", Status: "error", Error: "timeout", Steps: 2, DurationMs: 1500, Usage: usage},
		contract.ArtifactTagged{Path: "report.md", Artifact: "report", Bytes: 1200},
		contract.TurnStarted{TaskID: "t-1", UnknownTools: []string{"serach"}},
		contract.TurnQueued{Position: 2},
		contract.TurnCompleted{Result: "the answer", Limit: "max_tokens", Usage: usage},
		contract.TurnFailed{Status: "cancelled", Error: "turn cancelled", Usage: &usage},
		contract.StepStarted{Step: 1},
		contract.StepCompleted{Step: 1, DurationMs: 1250, Usage: contract.Usage{InputTokens: 1}},
		contract.ReasoningAppended{Delta: "first "},
		contract.ReasoningCompleted{Text: "first this"},
		contract.MessageAppended{Delta: "the ", Attempt: 2},
		contract.MessageCompleted{Text: "the answer"},
		contract.ActionsRequested{Calls: []contract.ActionCall{{ID: "c1", Name: "lookup", Input: json.RawMessage(`{"key":"value"}`)}}},
		contract.ActionResult{ID: "c1", Name: "lookup", Status: "success", Output: json.RawMessage(`["found it"]`), DurationMs: 12},
		contract.ApprovalRequested{ActionID: "c1", Name: "approve_pr", Input: json.RawMessage(`{"pr":7}`), ExpiresAt: "2026-03-02T10:00:00.000Z"},
		contract.ApprovalResolved{ActionID: "c1", Name: "approve_pr", Decision: "denied", By: "user-1", Reason: "Not yet."},
		contract.ActionsCompleted{IDs: []string{"c1"}},
		contract.ActionToolRetry{ID: "c1", Name: "lookup", Attempt: 2, Error: "timeout"},
		contract.SkillsReported{Findings: []contract.SkillFinding{{
			Severity: "error", Path: "skills/refund/SKILL.md", Line: 1, Code: "desc-missing", Text: "the description is missing", Skipped: true,
		}}, More: 2},
	}
}

// smallSessionEvents have nothing that is optional.
func smallSessionEvents() map[string]contract.EventData {
	return map[string]contract.EventData{
		"session.started.small":  contract.SessionStarted{Mode: "task", Principal: service},
		"turn.started.small":     contract.TurnStarted{},
		"turn.completed.small":   contract.TurnCompleted{Result: ""},
		"turn.failed.small":      contract.TurnFailed{Status: "failed", Error: "timeout"},
		"message.appended.small": contract.MessageAppended{Delta: "the "},
	}
}
