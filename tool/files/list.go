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

// maxList is how many entries are listed.
const maxList = 500

type listArguments struct {
	Path  string `json:"path,omitempty" jsonschema:"default: the root"`
	Depth int    `json:"depth,omitempty" jsonschema:"default 1" min:"1" max:"20"`
}

// Listed is the details of a list.
type Listed struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"` // listed
	More    bool   `json:"more,omitzero"`
}

func (s *Set) list() tool.Tool {
	return tool.New(nameList, listText,
		func(_ context.Context, args listArguments) (tool.Effects, error) {
			abs, err := s.ws.Resolve(cmp.Or(args.Path, "."))
			return tool.Effects{Reads: []tool.Path{tool.Tree(abs)}, Idempotent: true}, err
		},
		func(ctx context.Context, args listArguments, _ tool.Report) (tool.Result, error) {
			name := cmp.Or(args.Path, ".")
			info, err := s.ws.Stat(name)
			if err != nil {
				return tool.Result{}, s.missing(ctx, name, err)
			}
			if !info.IsDir() {
				return tool.Result{}, fmt.Errorf("%s is a file, not a directory; see what is in it with read", workspace.Quote(name))
			}
			return s.tree(ctx, name, cmp.Or(args.Depth, 1))
		})
}

func (s *Set) tree(ctx context.Context, name string, depth int) (tool.Result, error) {
	var b strings.Builder
	details := Listed{Path: name}
	for entry, err := range s.ws.Walk(ctx, name, workspace.WalkOptions{Depth: depth}) {
		if err != nil {
			if ctx.Err() != nil || entry.Path == "" && entry.Type == 0 {
				return tool.Result{}, err
			}
			fmt.Fprintf(&b, "[%v]\n", reason(err))
			continue
		}
		if details.Entries == maxList {
			details.More = true
			fmt.Fprintf(&b, "[more than %d entries; list a directory below, or use glob]\n", maxList)
			break
		}
		details.Entries++
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
		b.WriteString("[empty, or all of it is ignored]")
	}
	result := tool.TextResult(strings.TrimSuffix(b.String(), "\n"))
	result.Details = details
	return result, nil
}

// reason is an error with the path from the root alone.
func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprintf("%s: %v", path.Path, path.Err)
	}
	return err.Error()
}
