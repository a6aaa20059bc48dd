package app

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// outputs is the directory of the long outputs and results of a session, which the model may read.
func (a *App) outputs(id session.SessionID) string { return filepath.Join(a.Contents(id), "outputs") }

// keep stores a whole result that is too long for the model.
func (w *site) keep(_ context.Context, _ llm.ToolCall, text string) (path string, err error) {
	return w.workspace.KeepOutput(text)
}

func (a *App) artifacts(id session.SessionID) artifact.Options {
	dir := filepath.Join(a.Contents(id), "artifacts")
	return artifact.Options{
		Store: contents.NewDir(dir, contents.Options{}), Dir: dir,
		Saved: func(ctx context.Context) (saved []artifact.Kept, err error) {
			for e, err := range a.Store.Read(ctx, id, 0, session.Message{}.Kind()) {
				if err != nil {
					return nil, err
				}
				if m, ok := e.Body.(session.Message); ok && m.Tool == "artifact" && m.Outcome == session.OutcomeOK {
					var k artifact.Kept
					if json.Unmarshal(m.Details, &k) == nil {
						saved = append(saved, k)
					}
				}
			}
			return saved, nil
		},
	}
}
