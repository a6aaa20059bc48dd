package search

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// maxPaths is how many paths a glob shows.
const maxPaths = 250

type globArguments struct {
	Pattern string `json:"pattern" jsonschema:"glob with *, **, ?, [a-z] and {a,b}" min:"1"`
	Path    string `json:"path,omitempty" jsonschema:"directory to search, default the root"`
}

// Found is the details of a glob.
type Found struct {
	Paths []string `json:"paths"` // from the root, at most 250
	Total int      `json:"total"`

	Unseen int `json:"unseen,omitzero"` // unreadable directories
	some   []string
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
			return tool.TextResult(found.text()).With(tool.Count(found.Total, "file"), found), nil
		}, tool.WithTitle(func(args globArguments) string { return title(args.Pattern, args.Path) }))
}

// find returns the matching files or, if there are none, the matching directories.
func (s set) find(ctx context.Context, start string, filter nameFilter) (Found, error) {
	var files, dirs, unread Found
	for entry, err := range s.ws.Walk(ctx, start, workspace.WalkOptions{}) {
		switch {
		case ctx.Err() != nil:
			return Found{}, context.Cause(ctx)
		case err != nil:
			if unread.Unseen++; len(unread.some) < maxUnseen {
				unread.some = append(unread.some, workspace.Quote(cmp.Or(entry.Path, ".")+"/")+" ("+reason(err)+")")
			}
		case !filter.match(start, entry.Path):
		case entry.Type.IsDir():
			dirs.add(entry.Path + "/")
		default:
			files.add(entry.Path)
		}
	}
	found := files
	if found.Total == 0 {
		found = dirs
	}
	found.Unseen, found.some = unread.Unseen, unread.some
	return found, nil
}

func (f *Found) add(name string) {
	f.Total++
	if len(f.Paths) < maxPaths {
		f.Paths = append(f.Paths, name)
	}
}

func (f *Found) text() string {
	var lines []string
	for _, name := range f.Paths {
		lines = append(lines, workspace.Quote(name))
	}
	switch {
	case f.Total == 0:
		lines = []string{"[no matching file]"}
	case f.Total > len(f.Paths):
		lines = append(lines, fmt.Sprintf("[%d of %d shown; use a narrower pattern]", len(f.Paths), f.Total))
	}
	if f.Unseen > 0 {
		lines = append(lines, "["+unseen(f.some, f.Unseen)+"]")
	}
	return strings.Join(lines, "\n")
}
