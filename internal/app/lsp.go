package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/lsp"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// mostServers is the number of language servers of a process that run at once. Each worktree of a sub-agent has its own.
const mostServers = 8

// LSP is the language servers that agents may use.
type LSP struct {
	Servers []lsp.Spec // empty: none
	Trusted func(dir string) (bool, error)
	Idle    time.Duration
	Memory  int64
}

// lspOf returns the language servers of the configuration: its own come before the known ones, so that they get the files of both.
func lspOf(s *Setup) LSP {
	c := s.Config.LSP
	if c.Off || s.getenv("TENON_LSP") == "off" {
		return LSP{}
	}
	known := lsp.Known()
	var own []lsp.Spec
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		given := c.Servers[name]
		spec := lsp.Spec{Name: name, Command: name}
		if i := slices.IndexFunc(known, func(k lsp.Spec) bool { return k.Name == name }); i >= 0 {
			spec = known[i]
			known = slices.Delete(known, i, i+1)
		}
		if given.Off {
			continue
		}
		if given.Command != "" {
			spec.Command, spec.Args = given.Command, nil
		}
		if strings.HasPrefix(spec.Command, "~/") {
			spec.Command = s.paths("", []string{spec.Command})[0]
		}
		if given.Args != nil {
			spec.Args = given.Args
		}
		if given.Files != nil {
			spec.Files = given.Files
		}
		if given.Language != "" {
			spec.Language = given.Language
		}
		if len(given.Env) > 0 {
			spec.Env = func(ctx context.Context) ([]string, error) { return variablesOf(ctx, name, given) }
		}
		own = append(own, spec)
	}
	return LSP{Servers: append(own, known...), Trusted: func(dir string) (bool, error) { return trusted(s.Dir, dir) }, Idle: c.Idle, Memory: c.Memory}
}

// variablesOf returns the environment variables of a server. It may run commands to which the configuration refers.
func variablesOf(ctx context.Context, name string, server config.LanguageServer) ([]string, error) {
	var env []string
	for _, variable := range slices.Sorted(maps.Keys(server.Env)) {
		value, err := server.Env[variable].Get(ctx)
		if err != nil {
			return nil, fmt.Errorf("cannot read lsp.servers.%s.env.%s: %w", name, variable, err)
		}
		env = append(env, variable+"="+value)
	}
	return env, nil
}

// serve connects a site with the language servers of its directory, and starts none of them.
func (a *App) serve(w *site, l LSP) {
	if len(l.Servers) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.directories[w.now().Root]
	if d.servers == nil {
		d.servers = lsp.New(lsp.Options{
			Root: w.now().Root, Servers: l.Servers, Idle: l.Idle, Memory: l.Memory, Limit: a.servers,
			Sandbox: func() (*sandbox.Policy, error) { return a.confinement(d, l.Trusted) },
		})
	}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.servers, w.offered = d.servers, lsp.Available(w.now().Root, l.Servers)
	d.sites = append(d.sites, w)
}

// confinement returns the policy for language servers of a directory: that of an agent there whose commands are confined. If none is, servers run
// only in a free mode or a trusted directory, because some of them execute code of the project.
func (a *App) confinement(d *directory, trusted func(dir string) (bool, error)) (*sandbox.Policy, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	root, free := "", true
	for _, w := range d.sites {
		now, mode := w.now(), w.policy.Load().Mode()
		if now.Sandbox != nil {
			return now.Sandbox, nil
		}
		root, free = now.Root, free && mode.Free()
	}
	if free {
		return nil, nil
	}
	ok, err := trusted(root)
	if err == nil && !ok {
		err = errors.New("the sandbox is off, and the directory is not trusted; run tenon trust, or set sandbox.enabled")
	}
	return nil, err
}

// languageServers returns the state of the language servers that were used, for people.
func languageServers(a *Agent) (all []conversation.Server) {
	if a.site.servers == nil {
		return nil
	}
	for _, s := range a.site.servers.Status() {
		one, failed := conversation.Server{Name: s.Name, State: string(s.State)}, tool.Count(s.Failures, "failure")
		switch s.State {
		case lsp.Ready:
			one.Detail = fmt.Sprintf("process %d", s.PID)
		case lsp.Unloaded:
			one.Detail = "starts again when it is needed"
		case lsp.Waiting:
			one.Detail = fmt.Sprintf("after %s: %v", failed, s.Err)
			if wait := time.Until(s.Next); wait > 0 {
				one.Detail = fmt.Sprintf("for %s, after %s: %v", wait.Round(time.Second)+time.Second, failed, s.Err)
			}
		case lsp.Off:
			one.Detail = fmt.Sprintf("for this session, after %s: %v", failed, s.Err)
		}
		one.Detail = a.spec.Secrets.Redact(one.Detail)
		all = append(all, one)
	}
	return all
}

// lspTools returns the tool that asks the language servers, if one was installed for the project when the agent was made.
func (w *site) lspTools() []tool.Tool {
	if !w.offered {
		return nil
	}
	return []tool.Tool{w.servers.Tool(w.workspace, w.seen)}
}

// diagnosed returns the tools with calls whose results say what the language servers newly report after a change of files.
func (w *site) diagnosed(tools []tool.Tool) []tool.Tool {
	if w.servers == nil {
		return tools
	}
	return tool.Wrap(tools, func(call *tool.Call) {
		run, e := call.Run, call.Effects
		switch {
		case e.Command != "" || e.Unknown:
		case len(e.Writes) > 0:
			call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
				edit := w.servers.Edit(w.workspace, names(e.Writes))
				result, err := run(ctx, report)
				if err != nil || result.IsError || len(result.Diffs) == 0 {
					return result, err
				}
				if text := edit.After(ctx, result.Diffs); text != "" {
					result.Content = appended(result.Content, text)
				}
				return result, nil
			}
		case len(e.Reads) == 1 && !e.Reads[0].Tree && w.policy.Load().Mode().Changes():
			call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
				result, err := run(ctx, report)
				if err == nil && !result.IsError {
					tool.WhenUsed(ctx, func() { w.warm(e.Reads[0].Name) })
				}
				return result, err
			}
		}
	})
}

// warm starts the server for a file that the model has read, which it may change next.
func (w *site) warm(name string) {
	w.warming.Go(func() { w.servers.Warm(w.ctx, w.workspace, name) })
}

// appended returns the content of a result with a text after it.
func appended(c llm.Content, text string) llm.Content {
	c = slices.Clone(c)
	if n := len(c); n > 0 {
		if last, ok := c[n-1].(llm.Text); ok {
			last.Text = strings.TrimRight(last.Text, "\n") + "\n\n" + text
			c[n-1] = last
			return c
		}
	}
	return append(c, llm.Text{Text: text})
}

// moved reports the changes of commands to the language servers.
func (w *site) moved(changes []workspace.Change) {
	if w.servers == nil {
		return
	}
	var created, changed, removed []string
	for _, c := range changes {
		switch {
		case !c.Done:
		case c.Before == nil:
			created = append(created, c.Path)
		case c.After == nil:
			removed = append(removed, c.Path)
		default:
			changed = append(changed, c.Path)
		}
	}
	w.servers.Changed(created, changed, removed)
}
