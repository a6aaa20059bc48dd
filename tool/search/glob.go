package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// maxPaths is how many paths glob tells.
const maxPaths = 250

type globArguments struct {
	Pattern string `json:"pattern" min:"1"`
	Path    string `json:"path,omitempty" jsonschema:"directory, default: the root"`
}

// Found is the details of a glob.
type Found struct {
	Paths []string `json:"paths"` // from the root, at most 250
	Total int      `json:"total"`
}

func (s set) glob() tool.Tool {
	return tool.New("glob", globText,
		func(_ context.Context, args globArguments) (tool.Effects, error) { return s.reads(args.Path) },
		func(ctx context.Context, args globArguments, _ tool.Report) (tool.Result, error) {
			start, err := s.start(ctx, args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			filter, err := newNameFilter(s.ws, args.Pattern)
			if err != nil {
				return tool.Result{}, err
			}
			found, err := s.find(ctx, start, filter)
			if err != nil {
				return tool.Result{}, err
			}
			result := tool.TextResult(found.text())
			result.Details = found
			return result, nil
		})
}

// find returns the files that fit or, when there are none, the directories.
func (s set) find(ctx context.Context, start string, filter nameFilter) (Found, error) {
	var files, dirs Found
	for entry, err := range s.ws.Walk(ctx, start, workspace.WalkOptions{}) {
		switch {
		case ctx.Err() != nil:
			return Found{}, context.Cause(ctx)
		case err != nil || !filter.match(start, entry.Path):
		case entry.Type.IsDir():
			dirs.add(entry.Path + "/")
		default:
			files.add(entry.Path)
		}
	}
	if files.Total == 0 {
		return dirs, nil
	}
	return files, nil
}

func (f *Found) add(name string) {
	f.Total++
	if len(f.Paths) < maxPaths {
		f.Paths = append(f.Paths, name)
	}
}

func (f *Found) text() string {
	if f.Total == 0 {
		return "[no file matches]"
	}
	shown := make([]string, len(f.Paths))
	for i, name := range f.Paths {
		shown[i] = workspace.Quote(name)
	}
	text := strings.Join(shown, "\n")
	if f.Total > len(f.Paths) {
		text += fmt.Sprintf("\n[%d of %d shown; take a narrower pattern]", len(f.Paths), f.Total)
	}
	return text
}
