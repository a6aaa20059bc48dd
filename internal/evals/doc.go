// Command evals measures Tenon with a model: it gives the model small tasks, checks by execution whether each one is solved, and compares
// two measurements. docs/developers/evals.md describes it.
//
//	go run ./internal/evals list
//	go run ./internal/evals check
//	go run ./internal/evals run --model anthropic/claude-sonnet-5-5 --out a.json
//	go run ./internal/evals compare a.json b.json
//
// It knows Tenon only from outside: it runs a program, and reads the event stream that docs/developers/events.md specifies. So one
// measuring tool compares different versions of the program.
package main
