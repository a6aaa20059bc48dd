package stats

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
)

// used is a store with sessions of several weeks.
func used(t *testing.T) index.Store {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	price := llm.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}
	models := []llm.Model{
		{Provider: "anthropic", ID: "claude-sonnet-4-5", Price: price}, {Provider: "openai", ID: "gpt-5.1-with-a-rather-long-name", Price: price},
	}
	day := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	for n := range 26 {
		if n%7 > 4 {
			continue // the weekend
		}
		at := day.AddDate(0, 0, n)
		model, run := models[n%3%2], session.NewID()
		events := []session.Event{
			{Time: at, Body: session.Created{Dir: "/work"}},
			{Time: at, Body: session.Title{Title: fmt.Sprintf("Session %d about <something> & more", n)}},
			{Time: at, Run: run, Body: session.RunStarted{Run: run, Tag: []string{"", "explorer"}[n%2]}},
			{Time: at, Body: session.Epoch{Reason: "start", Model: model, System: "You help."}},
		}
		prompt := int64(0)
		for i := range 4 + n%5 {
			at = at.Add(time.Duration(1+n%9) * time.Minute)
			u := llm.Usage{Input: 300, CacheRead: prompt, CacheWrite: 9000 + int64(n)*400, Output: 700 + int64(n*i)*20}
			if n%9 > 4 || i == 3 && n%4 == 0 {
				u.CacheWrite, u.CacheRead = u.CacheWrite+u.CacheRead, 0
			}
			prompt = u.Prompt()
			u.Cost = price.Cost(u)
			answer := llm.AssistantText("Answer.")
			answer.Model, answer.Usage = model.Ref(), u
			result := llm.ToolText(llm.ToolCall{ID: "c", Name: []string{"read", "grep", "shell"}[i%3]}, strings.Repeat("x", 900*(i+1)), i == 2)
			m := session.Message{Message: result}
			if i == 2 {
				m.Outcome = session.OutcomeFailed
			}
			events = append(events,
				session.Event{Time: at, Run: run, Body: session.Requested{Model: model.Ref(), Segments: i + 2, Same: i + 1, Chain: fmt.Sprint(i)}},
				session.Event{Time: at.Add(10 * time.Second), Run: run, Body: session.Message{Message: answer}},
				session.Event{Time: at.Add(20 * time.Second), Run: run, Body: m})
		}
		if _, err := store.Import(t.Context(), func(yield func(session.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// The page is well formed, loads nothing from elsewhere, and has every number in a table too.
func TestStatsPage(t *testing.T) {
	q := ledger.Query{Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}
	a, err := ledger.Open(t.Context(), used(t), q)
	if err != nil {
		t.Fatal(err)
	}
	data, err := statsDataOf(t.Context(), a, statsOptions{query: q})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := writeStatsPage(&page, data); err != nil {
		t.Fatal(err)
	}
	if name := os.Getenv("TENON_TEST_PAGE"); name != "" { // to look at it
		if err := os.WriteFile(name, page.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := page.String()
	for _, wrong := range []string{"http:", "https:", "//", "<script", "url(", "src=", "href=", "<something>", "NaN", "Inf", "ZgotmplZ"} {
		if strings.Contains(strings.Replace(text, "<!doctype html>", "", 1), wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	for _, want := range []string{
		"&lt;something&gt;", "main agent", "explorer", "gpt-5.1-with-a-rather-long-name", "2026-01-05",
		"more than 5 minutes since the last request",
		`role="img" aria-label="Tokens by day: 2026-01-05 to 2026-01-30; the most is `, "the provider did not use its cache",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if days := regexp.MustCompile(`<title>2026-01-\d\d`).FindAllString(text, -1); len(days) != 3*26 {
		t.Errorf("%d bars, want three charts with 26 days", len(days))
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
	}
}

func TestStatsPageOfNothing(t *testing.T) {
	a, err := ledger.Open(t.Context(), memory.New(), ledger.Query{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := statsDataOf(t.Context(), a, statsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := writeStatsPage(&page, data); err != nil || !strings.Contains(page.String(), "No usage in this time.") {
		t.Errorf("the page is\n%s\n%v", page.String(), err)
	}
}

func TestStatsTables(t *testing.T) {
	a, err := ledger.Open(t.Context(), used(t), ledger.Query{})
	if err != nil {
		t.Fatal(err)
	}
	total, err := a.Total(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"day", "model", "session", "agent"} {
		rows, err := a.By(t.Context(), index.Group(by))
		if err != nil {
			t.Fatal(err)
		}
		requests := 0
		for _, r := range rows {
			requests += r.Requests
		}
		if requests != total.Requests || requests == 0 {
			t.Errorf("by %s there are %d requests, in all %d", by, requests, total.Requests)
		}
		byUse(rows)
		if !slices.IsSortedFunc(rows, func(a, b ledger.Row) int { return int(b.Usage.Cost*1e6) - int(a.Usage.Cost*1e6) }) {
			t.Errorf("by %s the rows are not in order", by)
		}
		for _, columns := range []int{40, 60, 72, 80, 120} {
			var out bytes.Buffer
			table := statsTable{out: &out, columns: columns, by: by}
			table.write(rows, total)
			table.tools(rows)
			for line := range strings.Lines(out.String()) {
				if n := term.Cells(strings.TrimSuffix(line, "\n")); n > columns {
					t.Errorf("by %s on %d columns a line has %d:\n%s", by, columns, n, line)
				}
			}
			for _, want := range []string{"REQS", "HIT", "COST", "FAILED", "\nin all ", "WHY THE CACHE WAS MISSED"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("by %s on %d columns %q is missing:\n%s", by, columns, want, out.String())
				}
			}
		}
	}
	if n := len(cacheFigures.Row(40)); n > 40 {
		t.Errorf("requests take %d of 40 columns", n)
	}
}

func TestNiceStep(t *testing.T) {
	for most, want := range map[float64]float64{0: 1, 1: 0.5, 4: 1, 7: 2, 90: 50, 1e6: 500_000, 0.03: 0.01, 100: 50, 80: 20} {
		if got := niceStep(most); got < want*0.999 || got > want*1.001 {
			t.Errorf("up to %v in steps of %v, want %v", most, got, want)
		}
	}
}
