package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
)

// workspaceEdit is the changes of a rename, in one of two forms.
type workspaceEdit struct {
	Changes  map[string][]textEdit `json:"changes"`
	Document []struct {
		Kind     string `json:"kind"` // of a file that is created, moved or removed
		Document struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Edits []textEdit `json:"edits"`
	} `json:"documentChanges"`
}

type textEdit struct {
	Range span   `json:"range"`
	Text  string `json:"newText"`
}

// maxRenamed is the number of files that a rename may change.
const maxRenamed = 500

// rename asks the server for the changes of a rename.
func (a asker) rename(ctx context.Context, args arguments) ([]files.Rewrite, error) {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	p, err := a.find(ctx, args)
	if err != nil {
		return nil, err
	}
	params := p.params()
	params["newName"] = args.NewName
	var edit *workspaceEdit
	if err := p.call(ctx, "textDocument/rename", params, &edit); err != nil {
		return nil, fmt.Errorf("cannot rename %s: %w", oneLine(args.Name, maxLine), err)
	}
	if edit == nil {
		return nil, fmt.Errorf("cannot rename %s: the server proposes no change", oneLine(args.Name, maxLine))
	}
	byFile := edit.Changes
	if len(edit.Document) > 0 {
		byFile = map[string][]textEdit{}
		for _, d := range edit.Document {
			if d.Kind != "" {
				return nil, fmt.Errorf("cannot rename %s: it would %s a file, which is not supported", oneLine(args.Name, maxLine), oneLine(d.Kind, 20))
			}
			byFile[d.Document.URI] = append(byFile[d.Document.URI], d.Edits...)
		}
	}
	if len(byFile) == 0 || len(byFile) > maxRenamed {
		return nil, fmt.Errorf("cannot rename %s: it changes %s; at least 1 and at most %d are possible", oneLine(args.Name, maxLine), tool.Count(len(byFile), "file"), maxRenamed)
	}
	var all []files.Rewrite
	for uri, edits := range byFile {
		name := pathOf(uri)
		if name == "" {
			return nil, fmt.Errorf("the server wants to change %q, which is no file", oneLine(uri, maxLine))
		}
		if name, err = a.ws.Resolve(name); err != nil {
			return nil, err
		}
		data, err := a.ws.ReadFile(name, maxDocument)
		if err != nil {
			return nil, err
		}
		after, err := edited(string(data), edits, p.bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", relative(a.o.Root, name), err)
		}
		if after != string(data) {
			all = append(all, files.Rewrite{Path: name, Before: string(data), After: after})
		}
	}
	slices.SortFunc(all, func(x, y files.Rewrite) int { return strings.Compare(x.Path, y.Path) })
	return all, nil
}

// edited applies edits, which refer to the text before all of them.
func edited(text string, edits []textEdit, bytes bool) (string, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(x, y textEdit) int {
		return offset(text, x.Range.Start, bytes) - offset(text, y.Range.Start, bytes)
	})
	var b strings.Builder
	done := 0
	for _, e := range edits {
		from, to := offset(text, e.Range.Start, bytes), offset(text, e.Range.End, bytes)
		if from < done || to < from {
			return "", errors.New("the edits of the server overlap")
		}
		b.WriteString(text[done:from])
		b.WriteString(e.Text)
		done = to
	}
	b.WriteString(text[done:])
	return b.String(), nil
}
