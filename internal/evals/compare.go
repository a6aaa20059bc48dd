package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// Comparison is the difference between two measurements, over the trials that both have: a pair is the same task and repeat.
type Comparison struct {
	A       Side     `json:"a"`
	B       Side     `json:"b"`
	Pairs   int      `json:"pairs"`
	Both    int      `json:"both"`    // pairs that A and B solved
	OnlyA   int      `json:"only_a"`  // pairs that only A solved
	OnlyB   int      `json:"only_b"`  // pairs that only B solved
	Neither int      `json:"neither"` // pairs that neither solved
	P       float64  `json:"p"`       // of the exact McNemar test, two-sided
	Figures []Figure `json:"figures"`
	Changed []Change `json:"changed"`  // tasks that one solved and the other did not
	Alone   []string `json:"unpaired"` // trials that only one of the files has
}

// Side is one of the measurements.
type Side struct {
	Setup
	Prompt string `json:"prompt,omitzero"`
}

// Figure is a number of a run, over all pairs.
type Figure struct {
	Name       string  `json:"name"`
	MedianA    float64 `json:"median_a"`
	MedianB    float64 `json:"median_b"`
	Difference float64 `json:"median_difference"` // median of B - A in pairs
	SumA       float64 `json:"sum_a"`
	SumB       float64 `json:"sum_b"`
	P          float64 `json:"p"` // of the exact sign test of the differences, two-sided
}

// Change is a pair with different verdicts.
type Change struct {
	Task   string `json:"task"`
	Repeat int    `json:"repeat"`
	Solved string `json:"solved_by"` // "A" or "B"
	Why    string `json:"why"`       // end and check of the other one
}

// figures are the numbers that a comparison looks at.
var figures = []struct {
	name string
	of   func(Trial) float64
}{
	{"turns", func(t Trial) float64 { return float64(t.Turns) }},
	{"seconds", func(t Trial) float64 { return t.Seconds }},
	{"cost", func(t Trial) float64 { return t.Cost }},
	{"tokens", func(t Trial) float64 { return float64(t.Tokens.Sum()) }},
	{"fresh tokens", func(t Trial) float64 { return float64(t.Tokens.Fresh + t.Tokens.CacheWrite) }},
	{"cached tokens", func(t Trial) float64 { return float64(t.Tokens.Cached) }},
	{"output tokens", func(t Trial) float64 { return float64(t.Tokens.Output) }},
	{"thinking tokens", func(t Trial) float64 { return float64(t.Tokens.Thinking) }},
	{"failed calls", func(t Trial) float64 { return float64(t.Failed()) }},
	{"changed lines", func(t Trial) float64 { return float64(t.Diff.Added + t.Diff.Removed) }},
}

// compare pairs the trials of two measurements.
func compare(a, b *Results) *Comparison {
	c := &Comparison{A: Side{a.Setup, a.Prompt}, B: Side{b.Setup, b.Prompt}, Changed: []Change{}, Alone: []string{}}
	var pairs [][2]Trial
	for _, t := range a.Trials {
		i := slices.IndexFunc(b.Trials, func(u Trial) bool { return u.Task == t.Task && u.Repeat == t.Repeat })
		if i < 0 {
			c.Alone = append(c.Alone, fmt.Sprintf("%s (%d) only in A", t.Task, t.Repeat))
			continue
		}
		pairs = append(pairs, [2]Trial{t, b.Trials[i]})
	}
	for _, t := range b.Trials {
		if !a.has(t.Task, t.Repeat) {
			c.Alone = append(c.Alone, fmt.Sprintf("%s (%d) only in B", t.Task, t.Repeat))
		}
	}
	c.Pairs = len(pairs)
	for _, pair := range pairs {
		c.count(pair[0], pair[1])
	}
	c.P = signTest(c.OnlyA, c.OnlyB)
	for _, f := range figures {
		c.Figures = append(c.Figures, paired(f.name, f.of, pairs))
	}
	return c
}

// count counts the verdicts of a pair.
func (c *Comparison) count(a, b Trial) {
	change := Change{Task: a.Task, Repeat: a.Repeat}
	switch {
	case a.Solved && b.Solved:
		c.Both++
		return
	case !a.Solved && !b.Solved:
		c.Neither++
		return
	case a.Solved:
		c.OnlyA++
		change.Solved, change.Why = "A", b.End()+"; "+b.why()
	default:
		c.OnlyB++
		change.Solved, change.Why = "B", a.End()+"; "+a.why()
	}
	c.Changed = append(c.Changed, change)
}

// paired compares one figure.
func paired(name string, of func(Trial) float64, pairs [][2]Trial) Figure {
	f := Figure{Name: name}
	var as, bs, differences []float64
	less, more := 0, 0
	for _, pair := range pairs {
		a, b := of(pair[0]), of(pair[1])
		as, bs, differences = append(as, a), append(bs, b), append(differences, b-a)
		f.SumA += a
		f.SumB += b
		if b < a {
			less++
		} else if b > a {
			more++
		}
	}
	f.MedianA, f.MedianB, f.Difference, f.P = median(as), median(bs), median(differences), signTest(less, more)
	return f
}

// median returns the middle of the values; 0 of none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// signTest returns the two-sided p value of the exact sign test: the probability of a split at least as uneven as this one if both sides
// are equally likely. With the pairs that only one side solved, it is McNemar's exact test.
func signTest(a, b int) float64 {
	n := float64(a + b)
	choose := func(k float64) float64 { // of n, as a logarithm
		all, _ := math.Lgamma(n + 1)
		in, _ := math.Lgamma(k + 1)
		out, _ := math.Lgamma(n - k + 1)
		return all - in - out
	}
	p := 0.0
	for k := range min(a, b) + 1 {
		p += math.Exp(choose(float64(k)) - n*math.Ln2)
	}
	return min(1, 2*p)
}

// print writes a comparison for people.
func (c *Comparison) print(w io.Writer) error {
	for i, s := range []Side{c.A, c.B} {
		fmt.Fprintf(w, "%c  %s, model %s, mode %s, prompt %s, %s", 'A'+i, s.Tenon, s.Model, s.Mode, s.Prompt, s.Date.Format("2006-01-02"))
		if len(s.Args) > 0 {
			fmt.Fprintf(w, ", arguments %q", s.Args)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\n%d pairs: both solved %d, only A %d, only B %d, neither %d; p = %.3f (exact McNemar test)\n\n",
		c.Pairs, c.Both, c.OnlyA, c.OnlyB, c.Neither, c.P)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "figure\tmedian A\tmedian B\tmedian of B - A\tsum A\tsum B\tp (sign test)\t")
	for _, f := range c.Figures {
		fmt.Fprintf(tab, "%s\t%.6g\t%.6g\t%+.6g\t%.6g\t%.6g\t%.3f\t\n", f.Name, f.MedianA, f.MedianB, f.Difference, f.SumA, f.SumB, f.P)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, change := range c.Changed {
		fmt.Fprintf(w, "\nonly %s solved %s (%d): the other one: %s", change.Solved, change.Task, change.Repeat, change.Why)
	}
	for _, name := range c.Alone {
		fmt.Fprintf(w, "\nnot compared: %s", name)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func compareCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one JSON object")
	if err := parse(flags, args, 2, stderr); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		fmt.Fprintln(stderr, "evals compare: name two files of evals run --out")
		return errUsage
	}
	a, err := loadResults(flags.Arg(0))
	if err != nil {
		return err
	}
	b, err := loadResults(flags.Arg(1))
	if err != nil {
		return err
	}
	c := compare(a, b)
	if c.Pairs == 0 {
		return fmt.Errorf("cannot compare %s and %s: no task is in both; measure the same --tasks", flags.Arg(0), flags.Arg(1))
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(c)
	}
	return c.print(stdout)
}
