// Package evals measures skills: it runs the test cases of a skill with it and without it (Runner), grades what came out
// (Grader), puts the numbers together (Aggregate) and shows them (Report, Compare). Trigger, its second half, counts how often a
// description makes a model reach for the skill.
//
// All results are files in a workspace whose layout other tools read too. A file is written whole or not at all, and a run counts
// as done when its timing.json is there: whatever was interrupted goes on from there. The package asks a model only through the
// interface of the agent loop, runs scripts only when told to, and reads nothing outside the skill's folder.
package evals
