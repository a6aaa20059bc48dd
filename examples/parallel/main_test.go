package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/team/role"
)

// One role corrects the sum, one breaks the program, and the model of the last one fails.
func TestTheResultThatPassesIsMerged(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(top, "project")
	err = os.Mkdir(project, 0o700)
	for name, text := range map[string]string{
		"go.mod":      "module sum\n\ngo 1.25\n",
		"sum.go":      "package sum\n\nfunc Add(a, b int) int { return a - b }\n",
		"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Error()\n\t}\n}\n",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(project, name), []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{
		"careful":  `call edit {"path":"sum.go","old_text":"a - b","new_text":"a + b"}` + "\n---\ntext Corrected.",
		"thorough": `call edit {"path":"sum.go","old_text":"a - b","new_text":"a -"}` + "\n---\ntext Corrected.",
		"builder":  `error other "down"`,
	}
	result, err := compete(t.Context(), project, filepath.Join(top, "data"), "Correct the sum.", func(r role.Role) (llm.Client, error) {
		return llmtest.New(t, scripts[r.Name]), nil
	})
	if err != nil || result.Outcomes[result.Selected].Name != "careful" {
		t.Errorf("%+v, %v", result, err)
	}
	if got, err := os.ReadFile(filepath.Join(project, "sum.go")); err != nil || string(got) != "package sum\n\nfunc Add(a, b int) int { return a + b }\n" {
		t.Errorf("%q, %v", got, err)
	}
}
