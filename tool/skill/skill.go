package skill

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// Options is what the tool is made of.
type Options struct {
	Skills  []Skill
	MaxSize int // bytes of the text of a skill that the model is given; default 4 KiB

	// Loaded reports whether the model still sees the text of a skill that it has loaded before. Nil: it never does.
	Loaded func(ctx context.Context, name string) bool
}

// Details is the details of a call.
type Details struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Bytes int64  `json:"bytes"`          // of the file
	Cut   int64  `json:"cut,omitzero"`   // that the model was not given
	Again bool   `json:"again,omitzero"` // it was loaded already
}

const (
	// Name is the name of the tool.
	Name = "skill"

	defaultSize = 4 << 10
	maxFile     = 1 << 20 // bytes of a file that are looked at
	maxBeside   = 30      // files beside it that are named
)

type arguments struct {
	Name string `json:"name"`
}

// New returns the tool skill, and nothing where there are no skills.
func New(o Options) []tool.Tool {
	if len(o.Skills) == 0 {
		return nil
	}
	if o.MaxSize <= 0 {
		o.MaxSize = defaultSize
	}
	return []tool.Tool{tool.New(Name, skillText,
		func(_ context.Context, args arguments) (tool.Effects, error) {
			_, err := o.find(args.Name)
			return tool.Effects{Idempotent: true}, err
		},
		func(ctx context.Context, args arguments, _ tool.Report) (tool.Result, error) {
			s, err := o.find(args.Name)
			if err != nil {
				return tool.Result{}, err
			}
			if o.Loaded != nil && o.Loaded(ctx, s.Name) {
				result := tool.TextResult("The skill " + s.Name + " is loaded already, see above.")
				result.Details = Details{Name: s.Name, Dir: s.Dir, Again: true}
				return result, nil
			}
			return s.load(o.MaxSize)
		})}
}

// Begins is how the result of a call begins that has the text of a skill in it.
func Begins(name string) string { return "<skill name=\"" + name + "\" " }

func (o Options) find(name string) (Skill, error) {
	i := slices.IndexFunc(o.Skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range o.Skills[:min(len(o.Skills), 100)] {
			names = append(names, s.Name)
		}
		return Skill{}, fmt.Errorf("there is no skill %q; there are: %s", name, strings.Join(names, ", "))
	}
	return o.Skills[i], nil
}

// load is the text of a skill for the model.
func (s Skill) load(most int) (tool.Result, error) {
	text, size, err := read(s.Dir, maxFile)
	if err != nil {
		return tool.Result{}, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	_, body, err := split(text)
	if err != nil {
		return tool.Result{}, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	shown := head(body, most)
	cut := int64(len(body)-len(shown)) + max(size-maxFile, 0)
	var b strings.Builder
	fmt.Fprintf(&b, "%sdir=%q>\n%s\n</skill>", Begins(s.Name), s.Dir, strings.TrimRight(shown, "\n"))
	if cut > 0 {
		line := strings.Count(text[:len(text)-len(body)+len(shown)], "\n") + 1
		fmt.Fprintf(&b, "\n[%d bytes are left out: read %s from line %d on]", cut, filepath.Join(s.Dir, FileName), line)
	}
	if beside := s.beside(); len(beside) > 0 {
		b.WriteString("\n[Beside it: " + strings.Join(beside, ", ") + "]")
	}
	result := tool.TextResult(b.String())
	result.Details = Details{Name: s.Name, Dir: s.Dir, Bytes: size, Cut: cut}
	return result, nil
}

// beside names the files of a skill but its own.
func (s Skill) beside() []string {
	var out []string
	more := 0
	_ = fs.WalkDir(os.DirFS(s.Dir), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil, path != "." && strings.HasPrefix(e.Name(), "."):
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
		case e.IsDir() || path == FileName:
			if strings.Count(path, "/") > 3 {
				return fs.SkipDir
			}
		case len(out) < maxBeside:
			out = append(out, path)
		default:
			if more++; more > 1000 {
				return fs.SkipAll
			}
		}
		return nil
	})
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// head is the beginning of a text of at most n bytes, in whole lines where they are short enough.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[:n]
	if i := strings.LastIndexByte(text, '\n'); i > n/2 {
		text = text[:i+1]
	}
	return strings.ToValidUTF8(text, "")
}

//go:embed skill.md
var skillText string
