package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/family"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// newDialect returns the dialect that reads the calls of other programs.
func newDialect() (_ *family.Dialect, err error) {
	ws, err := workspace.Open(os.TempDir(), workspace.Options{Sandbox: &sandbox.Policy{}})
	if err != nil {
		return nil, err
	}
	specs := []llm.Tool{ // tools that need a configuration
		{Name: "web_search", Schema: json.RawMessage(`{"properties":{"query":{}}}`)},
		{Name: "question", Schema: json.RawMessage(`{"properties":{"questions":{}}}`)},
		{Name: "skill", Schema: json.RawMessage(`{"properties":{"name":{}}}`)},
	}
	for _, t := range slices.Concat(
		files.NewSet(ws).Tools(), search.New(ws), shell.New(ws, shell.Options{}), web.New(ws, web.Options{}),
		plan.New(plan.Options{Record: func(context.Context, []plan.Item) error { return nil }}),
	) {
		specs = append(specs, t.Spec())
	}
	return family.New(models.FamilyOpen, specs), ws.Close()
}

// started is the start of a call of another program, in Tenon's names, with the paths that it names. ok is false for a tool that Tenon does
// not have, and for arguments that are not JSON: such a call stays as it is.
func (b *builder) started(c llm.ToolCall) (s session.CallStarted, ok bool) {
	canonical, err := b.dialect.Call(c)
	var args object
	if err != nil || json.Unmarshal([]byte(canonical.Arguments), &args) != nil {
		return s, false
	}
	s = session.CallStarted{Call: c.ID, Tool: canonical.Name, Arguments: json.RawMessage(canonical.Arguments)}
	var e tool.Effects
	switch s.Tool {
	case "read":
		s.Title, e.Reads = args.text("path"), b.paths(false, args.text("path"))
	case "list", "glob", "grep":
		e.Reads = b.paths(true, cmp.Or(args.text("path"), "."))
	case "edit", "multi_edit", "write":
		s.Title, e.Writes = args.text("path"), b.paths(false, args.text("path"))
	case "delete":
		e.Writes = b.paths(true, member[[]string](args, "paths")...)
	case "patch":
		var names []string
		for _, m := range patchedFile().FindAllStringSubmatch(args.text("patch"), -1) {
			names = append(names, strings.TrimSpace(m[1]))
		}
		s.Title, e.Writes = strings.Join(names, ", "), b.paths(false, names...)
	case "shell":
		s.Title = args.text("command")
		e = tool.Effects{Unknown: true, Exclusive: true, Command: s.Title, Dir: b.absolute(cmp.Or(args.text("dir"), "."))}
	}
	if s.Title = tool.Line(s.Title); len(e.Reads)+len(e.Writes) > 0 || e.Exclusive {
		s.Effects, _ = json.Marshal(e) // texts have a JSON form
	}
	return s, true
}

// patchedFile finds the names of files in a patch.
var patchedFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$`)
})

func (b *builder) paths(tree bool, names ...string) (all []tool.Path) {
	for _, name := range names {
		if p := (tool.Path{Name: b.absolute(name), Tree: tree}); name != "" && p.Valid() {
			all = append(all, p)
		}
	}
	return all
}

// absolute is a path from the directory of the session, which may be of another system.
func (b *builder) absolute(name string) string {
	switch {
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	case path.IsAbs(name) || b.dir == "":
		return name
	case filepath.IsAbs(b.dir):
		return filepath.Join(b.dir, name)
	}
	return path.Join(b.dir, name)
}
