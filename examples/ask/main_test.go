package main

import (
	"os"
	"strings"
	"testing"
)

// The README shows this program; it must be the one that compiles.
func TestTheReadmeShowsThisProgram(t *testing.T) {
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(code), "package main\n")
	if !strings.Contains(string(readme), program) {
		t.Error("the program in README.md is not examples/ask/main.go; copy it there, from the imports on")
	}
}
