package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The values are those of tables of the binomial distribution.
func TestSignTest(t *testing.T) {
	for _, c := range []struct {
		a, b int
		want float64
	}{
		{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 5, 0.0625}, {5, 0, 0.0625}, {0, 6, 0.03125}, {1, 7, 0.0703125}, {2, 8, 0.109375}, {10, 10, 1}, {300, 300, 1},
	} {
		if got := signTest(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("signTest(%d, %d) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	if median(nil) != 0 || median([]float64{3, 1, 2}) != 2 || median([]float64{4, 1, 2, 3}) != 2.5 {
		t.Error(median(nil), median([]float64{3, 1, 2}), median([]float64{4, 1, 2, 3}))
	}
}

// measured is a file of results.
func measured(t *testing.T, tenon string, trials ...Trial) string {
	t.Helper()
	r := &Results{Version: resultsVersion, Setup: Setup{Tenon: tenon, Model: "a/b", Mode: "auto"}}
	for _, trial := range trials {
		r.add(trial)
	}
	name := filepath.Join(t.TempDir(), tenon+".json")
	if err := r.save(name); err != nil {
		t.Fatal(err)
	}
	return name
}

func trialOf(task string, repeat int, solved bool, turns int, fresh int64) Trial {
	return Trial{
		Task: task, Category: "edit", Repeat: repeat, Solved: solved, Check: "line one\nline two\n",
		Run: Run{Reason: "done", Turns: turns, Tokens: Tokens{Fresh: fresh}, Cost: float64(turns) / 100},
	}
}

func TestMeasurementsAreComparedInPairs(t *testing.T) {
	a := measured(t, "old", trialOf("p", 1, true, 4, 100), trialOf("p", 2, false, 4, 100), trialOf("q", 1, true, 9, 300), trialOf("r", 1, false, 2, 50), trialOf("gone", 1, true, 99, 9999))
	b := measured(t, "new", trialOf("p", 1, true, 3, 90), trialOf("p", 2, true, 3, 90), trialOf("q", 1, false, 9, 300), trialOf("r", 1, false, 1, 20), trialOf("p", 3, true, 99, 9999))
	var out, log bytes.Buffer
	if code := run(t.Context(), []string{"compare", "--json", a, b}, &out, &log); code != 0 {
		t.Fatal(code, log.String())
	}
	var c Comparison
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if c.Pairs != 4 || c.Both != 1 || c.OnlyA != 1 || c.OnlyB != 1 || c.Neither != 1 || c.P != 1 {
		t.Errorf("%+v", c)
	}
	turns := c.Figures[0]
	turns.P = math.Round(turns.P*1e9) / 1e9
	if turns != (Figure{Name: "turns", MedianA: 4, MedianB: 3, Difference: -1, SumA: 19, SumB: 16, P: 0.25}) {
		t.Errorf("%+v", turns)
	}
	if len(c.Changed) != 2 || c.Changed[0] != (Change{"p", 2, "B", "done; line one line two"}) || c.Changed[1].Solved != "A" {
		t.Errorf("%+v", c.Changed)
	}
	if strings.Join(c.Alone, ", ") != "gone (1) only in A, p (3) only in B" {
		t.Errorf("%q", c.Alone)
	}
	out.Reset()
	if code := run(t.Context(), []string{"compare", a, b}, &out, &log); code != 0 {
		t.Fatal(code, log.String())
	}
	for _, want := range []string{"A  old, model a/b", "both solved 1, only A 1, only B 1, neither 1; p = 1.000", "only B solved p (2)", "not compared: gone (1) only in A"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

// A wrong command line or file is an error that says what to do.
func TestMistakes(t *testing.T) {
	text := func(s string) string {
		name := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	good := measured(t, "one", trialOf("p", 1, true, 1, 1))
	other := measured(t, "two", trialOf("q", 1, true, 1, 1))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "evals run --model REF"},
		{[]string{"walk"}, 2, "Usage:"},
		{[]string{"help"}, 0, "Usage:"},
		{[]string{"run", "--help"}, 0, "-limit-cost USD"},
		{[]string{"run"}, 2, "set --model"},
		{[]string{"run", "--model", "a/b", "--repeat", "0"}, 2, "--repeat must"},
		{[]string{"run", "--model", "a/b", "--timeout", "soon"}, 2, "invalid value"},
		{[]string{"run", "--model", "a/b", "--tasks", "none"}, 1, "no name or category fits; see go run ./internal/evals list"},
		{[]string{"run", "--model", "a/b", "--program", "none"}, 1, "cannot read --program"},
		{[]string{"run", "--model", "pool", "--tasks", "full-window"}, 1, "name a model, or leave the task out"},
		{[]string{"list", "x"}, 2, `unexpected argument "x"`},
		{[]string{"compare", good}, 2, "name two files"},
		{[]string{"compare", good, "none.json"}, 1, "cannot read results"},
		{[]string{"compare", good, text("{")}, 1, "the file must be one of evals run --out"},
		{[]string{"compare", good, text(`{"version": 9}`)}, 1, "its version is 9, this program reads 1; measure again"},
		{[]string{"compare", good, other}, 1, "no task is in both; measure the same --tasks"},
	} {
		var out, log bytes.Buffer
		if code := run(t.Context(), c.args, &out, &log); code != c.code || !strings.Contains(log.String(), c.want) {
			t.Errorf("%q: exit code %d, %s; want %d, %q", c.args, code, log.String(), c.code, c.want)
		}
	}
}

// A file continues only a measurement of the same thing.
func TestAnotherMeasurementDoesNotContinue(t *testing.T) {
	file := measured(t, "one", trialOf("p", 1, true, 1, 1))
	same := Setup{Tenon: "two names of one program", Model: "a/b", Mode: "auto"}
	r, err := resume(file, same)
	if err != nil || !r.has("p", 1) || r.has("p", 2) {
		t.Fatal(r, err)
	}
	for want, change := range map[string]func(*Setup){
		"its model is a/b, now it is c/d": func(s *Setup) { s.Model = "c/d" },
		"its mode is auto, now it is ask": func(s *Setup) { s.Mode = "ask" },
		"its list of arguments is":        func(s *Setup) { s.Args = []string{"--thinking", "low"} },
		"its program is":                  func(s *Setup) { s.Digest = "77" },
	} {
		other := same
		change(&other)
		if _, err := resume(file, other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if r, err := resume(filepath.Join(t.TempDir(), "new.json"), same); err != nil || len(r.Trials) != 0 {
		t.Errorf("%v, %v", r, err)
	}
}
