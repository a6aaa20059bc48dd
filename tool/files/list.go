package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// maxList is how many entries a list shows.
const maxList = 500

type listArguments struct {
	Path  string `json:"path,omitempty" jsonschema:"directory, default the root"`
	Depth int    `json:"depth,omitempty" jsonschema:"levels of directories, default 1" min:"1" max:"20"`
}

func listTool(m *memory) tool.Tool {
	return tool.New(nameList, listText,
		func(_ context.Context, args listArguments) (tool.Effects, error) {
			abs, err := m.ws.Resolve(cmp.Or(args.Path, "."))
			return tool.Effects{Reads: []tool.Path{tool.Tree(abs)}, Idempotent: true}, err
		},
		func(ctx context.Context, args listArguments, _ tool.Report) (tool.Result, error) {
			name := cmp.Or(args.Path, ".")
			info, err := m.ws.Stat(name)
			if err != nil {
				return tool.Result{}, m.explain(ctx, name, err)
			}
			if !info.IsDir() {
				return tool.Result{}, tool.Codef("tool.arguments", "%s is a file, not a directory; see its content with read", workspace.Quote(name))
			}
			return list(ctx, m.ws, name, cmp.Or(args.Depth, 1))
		}, tool.WithTitle(func(args listArguments) string { return cmp.Or(args.Path, ".") }))
}

func list(ctx context.Context, ws *workspace.Workspace, name string, depth int) (tool.Result, error) {
	var b strings.Builder
	n, brief := 0, ""
	for entry, err := range ws.Walk(ctx, name, workspace.WalkOptions{Depth: depth}) {
		if err != nil {
			if ctx.Err() != nil || entry.Path == "" && entry.Type == 0 {
				return tool.Result{}, err
			}
			if path, ok := errors.AsType[*fs.PathError](err); ok { // without the path from the root of the system
				err = fmt.Errorf("%s: %w", path.Path, path.Err)
			}
			fmt.Fprintf(&b, "[%v]\n", err)
			continue
		}
		if n == maxList {
			brief = "more than "
			fmt.Fprintf(&b, "[more than %d entries; list a directory below, or use glob]\n", maxList)
			break
		}
		n++
		b.WriteString(strings.Repeat("  ", entry.Depth-1) + workspace.Quote(entry.Name()))
		switch {
		case entry.Type.IsDir():
			b.WriteByte('/')
		case entry.Type&fs.ModeSymlink != 0:
			b.WriteString(" (link)")
		case entry.Type != 0:
			b.WriteString(" (special file)")
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		b.WriteString("[no entries, or all are ignored]")
	}
	return tool.TextResult(strings.TrimSuffix(b.String(), "\n")).With(brief+tool.Count(n, "entry"), nil), nil
}
