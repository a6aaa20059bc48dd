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
	Path    string  `json:"path" min:"1"`
	Content *string `json:"content,omitempty" jsonschema:"the whole content"`
}

func (s *Set) write() tool.Tool {
	return changer(s, nameWrite, writeText,
		func(_ context.Context, args writeArguments) (tool.Effects, error) { return s.writes(args.Path) },
		s.planWrite, one)
}

func (s *Set) planWrite(_ context.Context, args writeArguments) (plan, error) {
	abs, err := s.ws.Resolve(args.Path)
	if err != nil {
		return plan{}, err
	}
	before, base, err := s.replaceable(args.Path, abs)
	if err != nil {
		return plan{}, err
	}
	if base != nil && args.Content == nil {
		return plan{}, fmt.Errorf("%s exists and content is missing; give the whole content, \"\" to empty the file", workspace.Quote(args.Path))
	}
	if args.Content == nil {
		return plan{[]step{s.step(abs, nil, "", "", nil, true)}, []string{"content was missing, so the file is empty"}}, nil
	}
	return s.overwrite(args.Path, abs, before, base, *args.Content)
}

// overwrite plans to replace all of a file that may be replaced, or to create it.
func (s *Set) overwrite(name, abs string, before []byte, base *version, content string) (plan, error) {
	old, c := decodeText(before)
	after, notes := likeBefore(content, old)
	data, err := c.encode(after)
	if err != nil {
		return plan{}, fmt.Errorf("%s: %w", workspace.Quote(name), err)
	}
	if c.name != "" {
		notes = append(notes, "the encoding of the file was kept: "+c.name)
	}
	if base != nil && sha256.Sum256(data) == *base {
		return plan{notes: []string{workspace.Quote(name) + " has this content already; nothing was changed"}}, nil
	}
	one := s.step(abs, base, old, after, data, true)
	if base != nil {
		one.verb = "replaced"
	}
	return plan{[]step{one}, notes}, nil
}

// replaceable is the content and the version of a file, all of which the model has seen; nil when there is none. A large one is
// not compared: its content is empty.
func (s *Set) replaceable(name, abs string) ([]byte, *version, error) {
	data, err := s.ws.ReadFile(abs, maxEdit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	v := version(sha256.Sum256(data))
	if _, large := errors.AsType[*workspace.TooLargeError](err); large {
		if v, _, err = s.current(abs); err != nil {
			return nil, nil, err
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return data, &v, s.freshWhole(name, abs, v)
}
