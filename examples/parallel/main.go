// Command parallel lets three roles work on a task at once, each in a copy of the project, and merges the best result by go test.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/team/parallel"
	"github.com/tenon-agent/tenon/team/role"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// roles are the roles of the branches: a built-in one, and two of our own.
func roles() (all []role.Role) {
	for name, text := range map[string]string{"careful": "You make the smallest change.", "thorough": "You look for the cause of the cause."} {
		r, err := role.Parse(name, "---\ndescription: Corrects programs\n---\n"+text)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, r)
	}
	return append(all, role.BuiltIn()[0]) // builder
}

// compete lets the roles work on a task in copies of a project, and merges the best result. Model returns the model of a role.
func compete(ctx context.Context, project, data, task string, model func(role.Role) (llm.Client, error)) (parallel.Result, error) {
	store, copies := memory.New(), worktree.Store{Private: filepath.Join(data, "private"), Files: filepath.Join(data, "copies")}
	defer store.Close()
	o := parallel.Options{Judges: []parallel.Judge{parallel.Command(), parallel.FewestTokens()}}
	trees := make([]*worktree.Worktree, 3)
	for i, r := range roles() {
		var ws *workspace.Workspace
		open := func(ctx context.Context) (_ *agent.Agent, err error) {
			if trees[i], err = copies.Create(ctx, project, r.Name, ""); err != nil {
				return nil, err
			}
			if ws, err = workspace.Open(trees[i].Dir(), workspace.Options{}); err != nil {
				return nil, err
			}
			client, err := model(r)
			if err != nil {
				return nil, err
			}
			return agent.New(ctx, store, agent.Options{Client: client, System: r.Prompt, Tools: files.New(ws), Gate: agent.AllowAll()})
		}
		score := func(ctx context.Context) (parallel.Score, error) {
			defer ws.Close()
			done, err := ws.Run(ctx, workspace.Command{Line: "go test ./...", ReadOnly: true})
			return parallel.Score{Passed: done.ExitCode == 0}, err
		}
		o.Branches = append(o.Branches, parallel.Branch{Name: r.Name, Worktree: r.Name, Open: open, Score: score})
	}
	result, err := parallel.Run(ctx, o, llm.UserText(task))
	if err != nil {
		return result, err
	}
	plan, err := trees[result.Selected].Merge(ctx)
	if err != nil {
		return result, err
	}
	kept := contents.NewDir(filepath.Join(data, "checkpoints"), contents.Options{})
	ws, err := workspace.Open(project, workspace.Options{Checkpoints: kept})
	if err != nil {
		return result, err
	}
	defer ws.Close()
	return result, plan.Apply(ctx, ws, kept, false)
}

func main() {
	data, err := os.MkdirTemp("", "parallel-")
	if err != nil {
		log.Fatal(err)
	}
	project, err := filepath.EvalSymlinks(".")
	if err == nil {
		project, err = filepath.Abs(project)
	}
	if err != nil {
		log.Fatal(err)
	}
	result, err := compete(context.Background(), project, data, "Make go test ./... pass.", func(role.Role) (llm.Client, error) {
		return models.Client("anthropic/claude-sonnet-4-6")
	})
	fmt.Println(result.Reason, err)
}
