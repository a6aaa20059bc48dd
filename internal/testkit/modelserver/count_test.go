package modelserver_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// The count is close to that of a real vocabulary.
func TestTokens(t *testing.T) {
	const samples = "../../../window/tokens/testdata"
	list, err := os.Open(filepath.Join(samples, "o200k.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	all, allWant := 0, 0
	for lines := bufio.NewScanner(list); lines.Scan(); {
		var want int
		var name string
		if n, _ := fmt.Sscan(lines.Text(), &want, &name); n < 2 {
			continue // a comment
		}
		text, err := os.ReadFile(filepath.Join(samples, "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		got := modelserver.Tokens(strings.ReplaceAll(string(text), "\r\n", "\n"))
		all, allWant = all+got, allWant+want
		share := float64(got)/float64(want) - 1
		if share > 0.3 || share < -0.3 {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
	}
	if share := float64(all)/float64(allWant) - 1; allWant == 0 || share > 0.05 || share < -0.05 {
		t.Errorf("%d tokens in all, want %d", all, allWant)
	}
}

// A request that exceeds the context window is refused with the figures in the provider's words, and takes no step.
func TestContextWindow(t *testing.T) {
	for p, want := range map[modelserver.Protocol]string{
		modelserver.Anthropic: "prompt is too long: ", modelserver.OpenAIChat: "maximum context length is 2 tokens",
		modelserver.OpenAIResponses: "exceeds the context window", modelserver.Gemini: "exceeds the maximum number of tokens allowed (2)",
		modelserver.Bedrock: "Input is too long",
	} {
		srv := modelserver.New(t, modelserver.With(modelserver.Config{Window: 2}), modelserver.Steps(modelserver.Say("Yes.")))
		res, body, _ := ask(t, srv, p, true)
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), want) || len(srv.Violations()) != 1 || srv.Left() != 1 {
			t.Errorf("%s: %d, %s, violations %v, %d steps left", p, res.StatusCode, body, srv.Violations(), srv.Left())
		}
	}
}
