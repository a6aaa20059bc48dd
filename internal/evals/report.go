package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// printTrial prints the progress line of a trial.
func printTrial(w io.Writer, n, of int, t Trial) {
	verdict := "FAILED"
	if t.Solved {
		verdict = "solved"
	}
	name := t.Task
	if t.Repeat > 1 {
		name = fmt.Sprintf("%s (%d)", name, t.Repeat)
	}
	fmt.Fprintf(w, "[%*d/%d] %s  %-24s %3d turns  %6.1f s  $%.4f  %d failed calls  %s\n",
		len(fmt.Sprint(of)), n, of, verdict, name, t.Turns, t.Seconds, t.Cost, t.Failed(), t.End())
}

// totals are sums over trials.
type totals struct {
	trials, solved, turns int
	seconds, cost         float64
	tokens                Tokens
	diff                  Diff
}

func (s *totals) add(t Trial) {
	s.trials++
	if t.Solved {
		s.solved++
	}
	s.turns += t.Turns
	s.seconds += t.Seconds
	s.cost += t.Cost
	s.tokens.Fresh += t.Tokens.Fresh
	s.tokens.CacheWrite += t.Tokens.CacheWrite
	s.tokens.Cached += t.Tokens.Cached
	s.tokens.Output += t.Tokens.Output
	s.tokens.Thinking += t.Tokens.Thinking
	s.diff.Files += t.Diff.Files
	s.diff.Added += t.Diff.Added
	s.diff.Removed += t.Diff.Removed
}

// print writes the report about the trials.
func (r *Results) print(w io.Writer) error {
	all := &totals{}
	groups := map[string]*totals{}
	ends, calls, failures := map[string]int{}, map[string]int{}, map[string]int{}
	var unsolved []Trial
	for _, t := range r.Trials {
		if groups[t.Category] == nil {
			groups[t.Category] = &totals{}
		}
		groups[t.Category].add(t)
		all.add(t)
		ends[t.End()]++
		for tool, n := range t.Calls {
			calls[tool] += n
		}
		for _, f := range t.Failures {
			failures[f.Tool+"\t"+f.Cause] += f.Count
		}
		if !t.Solved {
			unsolved = append(unsolved, t)
		}
	}
	fmt.Fprintf(w, "\n%s, model %s, mode %s, prompt %s, %s\n\n", r.Setup.Tenon, r.Setup.Model, r.Setup.Mode, r.Prompt, r.Setup.Date.Format("2006-01-02"))
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "category\tsolved\tturns\tseconds\tcost\tfresh\tcache write\tcached\toutput\tthinking\tfiles\t+lines\t-lines\t")
	for _, category := range categories {
		if s := groups[category]; s != nil {
			s.row(tab, category)
		}
	}
	all.row(tab, "all")
	fmt.Fprintln(tab)
	if err := tab.Flush(); err != nil {
		return err
	}
	tab = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	table(tab, "reason for the end\truns", ends)
	table(tab, "tool\tcalls", calls)
	table(tab, "tool\tcause\tfailed calls", failures)
	if len(unsolved) > 0 {
		fmt.Fprintln(tab, "not solved\tend\twhy")
	}
	for _, t := range unsolved {
		fmt.Fprintf(tab, "%s\t%s\t%s\n", t.Task, t.End(), t.why())
	}
	return tab.Flush()
}

func (s *totals) row(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d/%d\t%d\t%.0f\t%.4f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, s.solved, s.trials, s.turns, s.seconds, s.cost,
		s.tokens.Fresh, s.tokens.CacheWrite, s.tokens.Cached, s.tokens.Output, s.tokens.Thinking, s.diff.Files, s.diff.Added, s.diff.Removed)
}

// table writes counts, the largest first.
func table(w io.Writer, heading string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	fmt.Fprintln(w, heading)
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for _, name := range names {
		fmt.Fprintf(w, "%s\t%d\n", name, counts[name])
	}
	fmt.Fprintln(w)
}

// why says in a line why a trial did not solve its task: the error of the run, or the output of the check.
func (t Trial) why() string {
	text := t.Check
	if len(t.Errors) > 0 {
		text = t.Errors[0].Message
	}
	return firstBytes(strings.Join(strings.Fields(text), " "), exampleBytes)
}
