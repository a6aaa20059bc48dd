package run

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

// TestTheDocumentsNameEveryMember reads what docs/developers/events.md says about the output of a run.
func TestTheDocumentsNameEveryMember(t *testing.T) {
	data, err := os.ReadFile("../../../docs/developers/events.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), "\n## Output of `tenon run`\n")
	if !found {
		t.Fatal("docs/developers/events.md has no section on the output of tenon run")
	}
	for _, v := range []any{header{}, report{}, command.UsageJSON{}, errorReport{}, deniedReport{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && name != "-" && !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, `"`+name+`"`) {
				t.Errorf("%T.%s is %q in JSON, of which docs/developers/events.md says nothing", v, f.Name, name)
			}
		}
	}
	for _, code := range []int{command.ExitDone, command.ExitError, command.ExitUsage, command.ExitLimit, command.ExitDenied, command.ExitBlocked, command.ExitInterrupted} {
		if !strings.Contains(text, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/developers/events.md says nothing about exit code %d", code)
		}
	}
}
