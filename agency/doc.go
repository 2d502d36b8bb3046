// Package agency makes agents that act on their own: woken by what concerns them, paced like a person, pursuing goals until an
// observation says they are done, keeping what they promised, and showing up now and then unasked.
//
// Define puts a whole agent type together. Below it lie primitives that may be used alone: triggers (Router, Gates), response
// delays, the agenda, commitments, check-ins, documents per agent, and dice whose answers never change. The primitives are
// functions of their arguments; names, ids, delays and documents are those of the TypeScript package, so both may serve one table.
//
// A model's words change neither agenda nor commitments: only observations and results of tasks do. The package calls no model,
// and nothing in core knows of it.
package agency
