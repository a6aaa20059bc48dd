package files

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxOutput = 2000 // bytes shown of one output of a cell
	maxCells  = 500  // of one read
)

// notebook is the shown part of a Jupyter notebook, format 4.
type notebook struct {
	Cells []struct {
		Kind      string           `json:"cell_type"`
		Source    lines            `json:"source"`
		Execution *int             `json:"execution_count"`
		Outputs   []notebookOutput `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
	Format int `json:"nbformat"`
}

type notebookOutput struct {
	Text  lines            `json:"text"`
	Data  map[string]lines `json:"data"`
	Error string           `json:"ename"`
	Value string           `json:"evalue"`
	Trace []string         `json:"traceback"`
}

// lines is a text that may be encoded as a list of lines. Other values stay JSON.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	var many []string
	switch {
	case json.Unmarshal(data, &one) == nil:
		*l = lines(one)
	case json.Unmarshal(data, &many) == nil:
		*l = lines(strings.Join(many, ""))
	default:
		*l = lines(data)
	}
	return nil
}

// lookAtNotebook shows the cells of a notebook; ok is false if the data is not a notebook.
func lookAtNotebook(data []byte, args readArguments) (l looked, ok bool) {
	var n notebook
	if json.Unmarshal(data, &n) != nil || n.Format < 4 {
		return l, false
	}
	l, _ = parts("cell", len(n.Cells), args, maxCells, false, func(i int) (string, error) { return n.cell(i), nil })
	l.content = append(l.content[:0:0], l.content...)
	text := strings.TrimSuffix(l.content.Text(), "]")
	l.content = textOf(text + "; a notebook: to change it, read it with raw]")
	return l, true
}

// cell is the text of a cell, numbered from 1.
func (n *notebook) cell(i int) string {
	c := n.Cells[i-1]
	var b strings.Builder
	fmt.Fprintf(&b, "[cell %d, %s", i, oneLine(c.Kind))
	if c.Kind == "code" && n.Metadata.Language.Name != "" {
		b.WriteString(", " + oneLine(n.Metadata.Language.Name))
	}
	if c.Execution != nil {
		fmt.Fprintf(&b, ", executed %d", *c.Execution)
	}
	fmt.Fprintf(&b, "]\n%s\n", strings.TrimRight(string(c.Source), "\n"))
	for _, o := range c.Outputs {
		b.WriteString(o.text())
	}
	return b.String()
}

// text is an output, cut to maxOutput.
func (o notebookOutput) text() string {
	body, kind := string(o.Text), "output"
	switch {
	case o.Error != "":
		kind, body = "error", o.Error+": "+o.Value
	case len(o.Data) > 0:
		body = string(o.Data["text/plain"])
		kinds := make([]string, 0, len(o.Data))
		for k := range o.Data {
			if k != "text/plain" {
				kinds = append(kinds, oneLine(k))
			}
		}
		if slices.Sort(kinds); len(kinds) > 0 {
			kind += ", also " + strings.Join(kinds, ", ") + ", not shown"
		}
	}
	body, _ = tool.Bound(plain(body), maxOutput)
	return fmt.Sprintf("[%s]\n%s\n", kind, strings.TrimRight(body, "\n"))
}

// oneLine cuts a text of a file for use within a line.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ToValidUTF8(text[:min(len(text), 60)], "")
}

// plain removes the escape sequences of terminals.
func plain(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		text = rest[end+1:]
	}
}
