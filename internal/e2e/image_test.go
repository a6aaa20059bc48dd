package e2e_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
)

// TestImages sends a picture of the user and one that a tool returned to every protocol. No command takes a picture in, so this is
// the agent with the client that the program would have chosen.
func TestImages(t *testing.T) {
	var picture bytes.Buffer
	const side = 4
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	shot := llm.Image{MIME: "image/png", Data: picture.Bytes()}
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			if strings.HasPrefix(w.name, "bedrock") || strings.HasPrefix(w.name, "vertex") {
				t.Setenv("HOME", t.TempDir()) // their libraries read the environment of the process itself
			} else {
				t.Parallel()
			}
			p := newProject(t)
			srv := w.serve(p, modelserver.Steps(modelserver.Call("screenshot", `{}`), say()))
			client := clientOf(t, p, w)
			a, err := agent.New(t.Context(), memory.New(), agent.Options{Client: client, Tools: []tool.Tool{screenshot(shot)}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}()
			outcome, err := agent.Wait(a.Run(t.Context(), llm.Message{
				Role: llm.RoleUser, Content: llm.Content{llm.Text{Text: "Compare this with the screen."}, shot},
			}))
			if err != nil || outcome.Text != answer {
				t.Errorf("answer %q, %v", outcome.Text, err)
			}
			want := 2
			if !client.Model().Images {
				want = 0
			}
			requests := srv.Requests()
			if got := requests[len(requests)-1].Images(); got != want || len(requests) != 2 {
				t.Errorf("the last of %d requests has %d pictures, want %d", len(requests), got, want)
			}
			for _, v := range srv.Violations() {
				t.Errorf("the server does not accept a request: %v", v)
			}
		})
	}
}

// clientOf returns the client that the program would choose in the environment of p.
func clientOf(t *testing.T, p *project, w way) llm.Client {
	t.Helper()
	env := map[string]string{}
	for _, pair := range p.env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
		if strings.HasPrefix(w.name, "bedrock") || strings.HasPrefix(w.name, "vertex") {
			t.Setenv(name, value)
		}
	}
	setup, err := app.NewSetup(func(name string) string { return env[name] }, "", "v0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	m, err := setup.Choose(w.ref())
	if err != nil {
		t.Fatal(err)
	}
	return m.Client
}

// screenshot is a tool that returns a picture.
func screenshot(shot llm.Image) tool.Tool {
	return tool.New("screenshot", "Shows the screen.",
		func(context.Context, struct{}) (tool.Effects, error) { return tool.Effects{None: true}, nil },
		func(context.Context, struct{}, tool.Report) (tool.Result, error) {
			return tool.Result{Content: llm.Content{llm.Text{Text: "The screen:"}, shot}}, nil
		})
}
