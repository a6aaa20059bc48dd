package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// resultsVersion is the version of the file format.
const resultsVersion = 1

// Results is the file of a measurement.
type Results struct {
	Version int     `json:"version"`
	Setup   Setup   `json:"setup"`
	Prompt  string  `json:"prompt,omitzero"` // hash of the system prompt and the tools of the first trial that has one
	Trials  []Trial `json:"trials"`          // in the order of their tasks and repeats
}

// Setup is what all trials of a measurement share. A measurement continues only with the same model, mode, arguments and program.
type Setup struct {
	Tenon   string    `json:"tenon"`  // version of the program, as it reports it
	Digest  string    `json:"digest"` // of the file of the program
	Model   string    `json:"model"`
	Mode    string    `json:"mode"`
	Args    []string  `json:"args,omitzero"` // further arguments of tenon run
	Date    time.Time `json:"date"`          // start
	Machine string    `json:"machine"`       // system and architecture
}

// Trial is one run of the program at one task.
type Trial struct {
	Task     string `json:"task"`
	Category string `json:"category"`
	Repeat   int    `json:"repeat"` // from 1
	Solved   bool   `json:"solved"`
	Check    string `json:"check,omitzero"` // output of the check
	Run
	Diff Diff `json:"diff"`
}

// Run is what the event stream of a run says about it.
type Run struct {
	Reason   string         `json:"reason"`          // reason for its end: a stop_reason of Tenon, or crashed or killed
	Limit    string         `json:"limit,omitzero"`  // the limit that it reached
	Errors   []RunError     `json:"errors,omitzero"` // its errors
	Exit     int            `json:"exit"`            // exit code of the program; -1: a signal ended it
	Turns    int            `json:"turns"`
	Seconds  float64        `json:"seconds"`
	Cost     float64        `json:"cost"` // US dollars; 0 if unknown
	Tokens   Tokens         `json:"tokens"`
	Calls    map[string]int `json:"calls,omitzero"`    // results by canonical tool name
	Failures []Failure      `json:"failures,omitzero"` // failed calls
	Retries  int            `json:"retries,omitzero"`  // requests that Tenon sent again
	Model    string         `json:"model,omitzero"`    // of the last answer
	Prompt   string         `json:"prompt,omitzero"`   // hash of the first system prompt and its tools
	Session  string         `json:"session,omitzero"`
	Answer   string         `json:"answer,omitzero"`
}

// RunError is an error in the result of a run.
type RunError struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Code    string `json:"code,omitzero"`
}

// Tokens is the usage of a run. Each token counts once.
type Tokens struct {
	Fresh      int64 `json:"fresh"` // of input that the provider did not have in its cache
	CacheWrite int64 `json:"cache_write"`
	Cached     int64 `json:"cached"`
	Output     int64 `json:"output"`
	Thinking   int64 `json:"thinking"`
}

// Sum is all tokens.
func (t Tokens) Sum() int64 { return t.Fresh + t.CacheWrite + t.Cached + t.Output + t.Thinking }

// Failure is the calls of a tool that failed for the same cause.
type Failure struct {
	Tool    string `json:"tool"`
	Cause   string `json:"cause"` // outcome of the call, with the code of a denial; exit_code if a command failed
	Count   int    `json:"count"`
	Example string `json:"example,omitzero"` // first line of the first result
}

// End is the reason for the end, with its detail.
func (r Run) End() string {
	switch {
	case r.Limit != "":
		return r.Reason + ": " + r.Limit
	case len(r.Errors) > 0:
		return r.Reason + ": " + r.Errors[0].Kind
	}
	return r.Reason
}

// Failed is the number of calls that failed.
func (r Run) Failed() (n int) {
	for _, f := range r.Failures {
		n += f.Count
	}
	return n
}

// has reports whether the results contain a trial.
func (r *Results) has(task string, repeat int) bool {
	return slices.ContainsFunc(r.Trials, func(t Trial) bool { return t.Task == task && t.Repeat == repeat })
}

// add inserts a trial at its place.
func (r *Results) add(t Trial) {
	r.Trials = append(r.Trials, t)
	slices.SortFunc(r.Trials, func(a, b Trial) int { return cmp.Or(cmp.Compare(a.Task, b.Task), a.Repeat-b.Repeat) })
	r.Prompt = cmp.Or(r.Prompt, t.Prompt)
}

// resume returns the results in a file if they have the same setup, new ones if there is no file, and an error otherwise.
func resume(name string, setup Setup) (*Results, error) {
	fresh := &Results{Version: resultsVersion, Setup: setup, Trials: []Trial{}}
	if name == "" {
		return fresh, nil
	}
	old, err := loadResults(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, err
	}
	for _, field := range []struct{ what, old, now string }{
		{"model", old.Setup.Model, setup.Model},
		{"mode", old.Setup.Mode, setup.Mode},
		{"list of arguments", fmt.Sprint(old.Setup.Args), fmt.Sprint(setup.Args)},
		{"program", old.Setup.Digest, setup.Digest},
	} {
		if field.old != field.now {
			return nil, fmt.Errorf("cannot continue %s: its %s is %s, now it is %s; choose another --out", name, field.what, field.old, field.now)
		}
	}
	return old, nil
}

// loadResults reads a file of results.
func loadResults(name string) (*Results, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read results: %w", err)
	}
	var r Results
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("cannot read results in %s: %w; the file must be one of evals run --out", name, err)
	}
	if r.Version != resultsVersion {
		return nil, fmt.Errorf("cannot read results in %s: its version is %d, this program reads %d; measure again", name, r.Version, resultsVersion)
	}
	return &r, nil
}

// save writes the file so that a crash leaves the old or the new one.
func (r *Results) save(name string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".evals-*")
	if err != nil {
		return fmt.Errorf("cannot save results: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("cannot save results: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
