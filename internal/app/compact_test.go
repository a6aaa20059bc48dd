package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// Who asks for a summary is told why there is none.
func TestNothingToSumUp(t *testing.T) {
	w := newWorkplace(t)
	w.script()
	w.open()
	w.ask("Mend the leak in the cellar.")
	for range 2 {
		_, problem, err := w.agent.Compact(t.Context(), "the leak")
		if err != nil || !strings.Contains(problem, "before them is next to nothing") {
			t.Errorf("told %q, %v", problem, err)
		}
	}
}

// Whole results are kept until they are too many, also those of an earlier process.
func TestResultsThatAreKeptAreBounded(t *testing.T) {
	artifacts := t.TempDir()
	call := llm.ToolCall{ID: "1", Name: "shell"}
	for range 2 {
		k := newKeeper(artifacts)
		k.most = 250
		if _, err := k.keep(t.Context(), call, strings.Repeat("x", 100)); err != nil {
			t.Fatal(err)
		}
	}
	k := newKeeper(artifacts)
	k.most = 250
	if _, err := k.keep(t.Context(), call, strings.Repeat("x", 100)); err == nil || !strings.Contains(err.Error(), "remove what is not needed there") {
		t.Errorf("error = %v", err)
	}
	if _, err := k.keep(t.Context(), call, strings.Repeat("x", 50)); err != nil {
		t.Error("there is room for a small one still:", err)
	}
	files, err := os.ReadDir(filepath.Join(artifacts, resultsName))
	if err != nil || len(files) != 3 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if err := os.Remove(filepath.Join(artifacts, resultsName, files[0].Name())); err != nil {
		t.Fatal(err)
	}
	if place, err := k.keep(t.Context(), call, strings.Repeat("x", 90)); err != nil || !strings.HasSuffix(place, ".txt") {
		t.Error("there is room again:", err)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newKeeper(blocked).keep(t.Context(), call, "x"); err == nil {
		t.Error("it is kept below a file")
	}
}
