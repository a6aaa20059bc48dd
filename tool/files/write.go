package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

type writeArguments struct {
	Path    string  `json:"path" jsonschema:"file, relative to the root or absolute" min:"1"`
	Content *string `json:"content,omitempty" jsonschema:"the whole new content"`
}

func (e editor) writeTool() tool.Tool {
	return changer(e, nameWrite, writeText,
		func(_ context.Context, args writeArguments) (tool.Effects, error) { return e.writes(args.Path) },
		e.planWrite, func(args writeArguments) string { return args.Path })
}

func (e editor) writes(name string) (tool.Effects, error) {
	abs, err := e.ws.Resolve(name)
	return tool.Effects{Writes: []tool.Path{tool.File(abs)}}, err
}

func (e editor) planWrite(_ context.Context, args writeArguments) (plan, error) {
	content := ""
	if args.Content != nil {
		content = *args.Content
	}
	p, base, err := e.overwrite(args.Path, content)
	if err == nil && args.Content == nil {
		if base != nil {
			return plan{}, tool.Codef("tool.arguments", "%s exists and content is missing; give the whole content, or \"\" to empty the file", workspace.Quote(args.Path))
		}
		p.notes = append(p.notes, "content was missing, so the file is empty")
	}
	return p, err
}

// overwrite plans to create a file, or to replace all of a file that the model has read. Base is the version of that file.
func (e editor) overwrite(name, content string) (p plan, base *version, err error) {
	abs, err := e.ws.Resolve(name)
	if err != nil {
		return p, nil, err
	}
	before, v, err := e.load(abs)
	switch {
	case err == nil:
		base, err = &v, e.fresh(name, abs, v, true)
	case errors.Is(err, fs.ErrNotExist):
		before, err = nil, nil
	}
	if err != nil {
		return p, base, err
	}
	old, c := decodeText(before)
	after, notes := likeBefore(content, old)
	data, err := c.encode(after)
	if err != nil {
		return p, base, fmt.Errorf("%s: %w", workspace.Quote(name), err)
	}
	if c.name != "" {
		notes = append(notes, "the file keeps its encoding: "+c.name)
	}
	if base != nil && sha256.Sum256(data) == *base {
		return plan{notes: []string{workspace.Quote(name) + " already has this content; nothing was changed"}}, base, nil
	}
	one := e.step(abs, base, old, after, data, true)
	if base != nil {
		one.verb = "replaced"
	}
	return plan{[]step{one}, notes}, base, nil
}
