package agency_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/steadfast-agents/steadfast/agency"
)

// The agent type of docs/persistent-agents.md, which shows it as it stands from here to the end.

type Person struct{ Name string }               // who an agent is
type Ticket struct{ ID, From, Question string } // what it has to do
type Look struct{ Ticket, Topic string }        // what it promises
type Ctx = agency.Context[Person, Ticket, Look] // what a handler has
type Desk struct{ Open map[string]Ticket }      // the app: its own rows, stands in for a database

func (d *Desk) Define(def agency.Definition[Person, Ticket, Look]) (*agency.Agent, error) {
	def.Name, def.Sources = "support", []string{"app.desk"}
	def.Profile = func(_ context.Context, id string) (agency.Profile[Person], error) {
		if id != "sam" {
			return agency.Profile[Person]{}, agency.ErrUnknownAgent // not one of ours: skipped
		}
		return agency.Profile[Person]{Persona: Person{"Sam"}, Pacing: agency.Pacing{Cooldown: time.Minute}}, nil
	}
	def.Rules = []agency.Rule{agency.On("Ticket Opened", "answer", d.opened)}
	def.CheckIn = &agency.CheckIn{Agents: func(context.Context) ([]string, error) { return []string{"sam"}, nil }}
	def.Tasks = map[string]func(*Ctx) (string, error){
		"answer": agency.WithPayload(d.answer), "look": agency.WithCommitment(d.look), "check_in": d.checkIn,
	}
	def.Observe = func(*Ctx) (seen agency.Observation[Ticket], err error) { // what is there to do? Never what a model said
		for _, id := range slices.Sorted(maps.Keys(d.Open)) { // most important first
			seen.Add("ticket:"+id, "answer", d.Open[id])
		}
		return seen, nil
	}
	return agency.Define(def)
}

func (d *Desk) opened(_ context.Context, e agency.Event[Ticket]) (agency.Wake, error) {
	return agency.Wake{
		Agents: []string{"sam"}, Request: "Answer " + e.Detail.From + ".", Payload: e.Detail,
		Delay: agency.HumanDelay(agency.ConversationalDelay, time.Time{}),
	}, nil
}

func (d *Desk) answer(ctx *Ctx, t Ticket) (string, error) {
	made, err := ctx.Promise(agency.Promise[Look]{ // the promise and its task are one write
		Kind: "look", Counterpart: t.From, Source: agency.Said{Channel: t.ID, Ref: t.ID, Visibility: "shared"},
		Intent: Look{t.ID, t.Question}, ExpiresAt: ctx.Now.Add(48 * time.Hour), Request: "Look into it.",
	})
	if err != nil || !made.Stands() { // one open promise to each person, three in all, unless CommitmentLimits say otherwise
		return ctx.Persona.Name + ": I cannot take this on now.", err
	}
	return fmt.Sprintf("%s: I'll look into %q.", ctx.Persona.Name, t.Question), nil
}

func (d *Desk) look(ctx *Ctx, c agency.Commitment[Look]) (string, error) {
	delete(d.Open, c.Intent.Ticket) // the task's id, ctx.TaskID, makes a write to a real app safe to repeat
	_, err := ctx.AdvanceCommitment(c.ID, agency.Closed{Status: agency.CommitmentFulfilled, Reason: "answered"})
	return "answered " + c.Counterpart, err
}

func (d *Desk) checkIn(ctx *Ctx) (string, error) {
	due := ctx.DueCommitments(nil)
	for mode, c := range due.All() { // whose task was lost
		if _, err := ctx.Redispatch(c, mode, "Look into it now."); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d followed up, %d goals", due.Len(), len(ctx.AgendaLines(func(g agency.Goal[Ticket]) string { return g.ID }))), nil
}
