package key

import (
	"strconv"
	"strings"
)

// Row names the kind of a row and its variable parts, in the order of the builder's arguments.
type Row struct {
	Kind  string
	Parts []string
}

// Parse tells which row a key belongs to. ok is false for a key that no builder makes.
func Parse(k Key) (row Row, ok bool) {
	kind, rest, found := strings.Cut(k.PK, "#")
	if !found {
		return Row{}, false
	}
	if strings.HasPrefix(k.SK, PartPrefix) {
		return parsePart(k)
	}
	switch kind {
	case "SESSION":
		return parseSession(rest, k.SK)
	case "PRINCIPAL":
		return parsePrincipal(rest, k.SK)
	case "AGENT":
		return parseAgent(rest, k.SK)
	case "CONTINUATION":
		channel, hash, ok := strings.Cut(rest, "#")
		return Row{"continuation", []string{channel, hash}}, ok && k.SK == "SESSION"
	case "REMINDER":
		if k.SK == "REMINDER" {
			return Row{"reminder", []string{rest}}, true
		}
		return numbered("reminder firing", rest, k.SK, FiredPrefix)
	case "SCHEDULE":
		return numbered("firing", rest, k.SK, FiredPrefix)
	case "SLOT":
		if waiter, ok := strings.CutPrefix(k.SK, WaiterPrefix); ok {
			since, session, ok := strings.Cut(waiter, "#")
			return Row{"waiter", []string{rest, unpad(since), session}}, ok
		}
		return numbered("slot", rest, k.SK, SlotPrefix)
	case "BUDGET":
		if k.SK == "BUDGET" {
			return Row{"budget", []string{rest}}, true
		}
		if call, ok := strings.CutPrefix(k.SK, "HOLD#"); ok {
			return Row{"budget hold", []string{rest, call}}, true
		}
		return numbered("budget window", rest, k.SK, "WINDOW#")
	}
	single := map[string]string{"TASK" + StatusSK: "task", "TASK" + DispatchSK: "dispatch", "CONNECTIONCONNECTION": "connection",
		"TRIGGERGATE": "gate", "AGENCYPAUSE": "pause", "DETAILDETAIL": "detail", "SCHEDULEDASKED": "asked"}
	name, ok := single[kind+k.SK]
	return Row{name, []string{rest}}, ok
}

func parseSession(id, sk string) (Row, bool) {
	switch sk {
	case ConfigSK:
		return Row{"config", []string{id}}, true
	case StateSK:
		return Row{"state", []string{id}}, true
	case LatestSK:
		return Row{"latest", []string{id}}, true
	case SkillsSK:
		return Row{"session skills", []string{id}}, true
	case ManifestSK:
		return Row{"manifest", []string{id}}, true
	}
	for _, p := range []struct{ prefix, kind string }{
		{SnapshotPrefix, "snapshot"}, {DeliveryPrefix, "delivery"}, {SubPrefix, "subscriber"},
		{ApprovalPrefix, "approval"}, {FilePrefix, "file"}, {ReminderPrefix, "session reminder"},
	} {
		if rest, ok := strings.CutPrefix(sk, p.prefix); ok {
			return Row{p.kind, []string{id, rest}}, true
		}
	}
	if strings.HasPrefix(sk, EventPrefix) {
		return numbered("event", id, sk, EventPrefix)
	}
	return numbered("inbox", id, sk, InboxPrefix)
}

func parsePrincipal(rest, sk string) (Row, bool) {
	kind, id, ok := strings.Cut(rest, "#")
	if !ok {
		return Row{}, false
	}
	if rest, ok := strings.CutPrefix(sk, ListingPrefix); ok {
		created, session, ok := strings.Cut(rest, "#")
		return Row{"listing", []string{kind, id, unpad(created), session}}, ok
	}
	if sk == SkillsSK {
		return Row{"skills", []string{kind, id}}, true
	}
	if rest, ok := strings.CutPrefix(sk, "SKILL#"); ok {
		i := strings.LastIndexByte(rest, '#')
		if i < 0 {
			return Row{}, false
		}
		return Row{"skill", []string{kind, id, rest[:i], rest[i+1:]}}, true
	}
	memory, ok := strings.CutPrefix(sk, "MEMORY#")
	return Row{"memory", []string{kind, id, memory}}, ok
}

func parseAgent(id, sk string) (Row, bool) {
	rest, ok := strings.CutPrefix(sk, "STATE#")
	name, scope, _ := strings.Cut(rest, "#")
	return Row{"agent state", []string{id, name, scope}}, ok
}

func parsePart(k Key) (Row, bool) {
	rest := strings.TrimPrefix(k.SK, PartPrefix)
	i := strings.LastIndexByte(rest, '#')
	if i < 0 {
		return Row{}, false
	}
	return Row{"part", []string{k.PK, rest[:i], unpad(rest[i+1:])}}, true
}

// numbered reads a sort key that is a prefix and a padded number.
func numbered(kind, id, sk, prefix string) (Row, bool) {
	rest, ok := strings.CutPrefix(sk, prefix)
	if _, err := strconv.ParseInt(rest, 10, 64); err != nil {
		return Row{}, false
	}
	return Row{kind, []string{id, unpad(rest)}}, ok
}

func unpad(number string) string {
	if short := strings.TrimLeft(number, "0"); short != "" {
		return short
	}
	return "0"
}
