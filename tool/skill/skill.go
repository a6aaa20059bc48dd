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

	"github.com/tenon-agent/tenon/internal/frontmatter"
	"github.com/tenon-agent/tenon/tool"
)

// Options configure the tool.
type Options struct {
	Skills  []Skill
	MaxSize int // bytes of the text of a skill for the model; default 4 KiB

	// Loaded reports whether the model still sees the text of a skill that it loaded before. Nil: it never does.
	Loaded func(ctx context.Context, name string) bool
}

// Details is the details of a call.
type Details struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Bytes int64  `json:"bytes"`          // of the file
	Cut   int64  `json:"cut,omitzero"`   // bytes that the model did not get
	Again bool   `json:"again,omitzero"` // the model had loaded it before
}

const (
	// Name is the name of the tool.
	Name = "skill"

	defaultSize = 4 << 10
	maxFile     = 1 << 20 // bytes read of a file
	maxOthers   = 30      // further files that the result names
)

type arguments struct {
	Name string `json:"name" jsonschema:"name of the skill"`
}

// New returns the tool skill. Without skills it returns no tool.
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
			return tool.Effects{None: true, Idempotent: true}, err
		},
		func(ctx context.Context, args arguments, _ tool.Report) (tool.Result, error) {
			s, err := o.find(args.Name)
			if err != nil {
				return tool.Result{}, err
			}
			if o.Loaded != nil && o.Loaded(ctx, s.Name) {
				details := Details{Name: s.Name, Dir: s.Dir, Again: true}
				return tool.TextResult("The skill "+s.Name+" is already loaded, see above.").With("already loaded", details), nil
			}
			return s.load(o.MaxSize)
		}, tool.WithTitle(func(args arguments) string { return args.Name }))}
}

// Begins returns the beginning of a result with the text of a skill.
func Begins(name string) string { return "<skill name=\"" + name + "\" " }

func (o Options) find(name string) (Skill, error) {
	i := slices.IndexFunc(o.Skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range o.Skills[:min(len(o.Skills), 100)] {
			names = append(names, s.Name)
		}
		return Skill{}, tool.Codef("tool.not_found", "skill %q not found; the skills are %s", name, strings.Join(names, ", "))
	}
	return o.Skills[i], nil
}

func (s Skill) load(most int) (tool.Result, error) {
	text, size, err := read(s.Dir, maxFile)
	if err != nil {
		return tool.Result{}, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	_, body, err := frontmatter.Split(text)
	if err != nil {
		return tool.Result{}, fmt.Errorf("skill %s: %w", s.Name, err)
	}
	_, last := tool.Part(body, 0, most)
	shown := body[:last]
	cut := int64(len(body)-len(shown)) + max(size-maxFile, 0)
	var b strings.Builder
	fmt.Fprintf(&b, "%sdir=%q>\n%s\n</skill>", Begins(s.Name), s.Dir, strings.TrimRight(shown, "\n"))
	if cut > 0 {
		line := strings.Count(text[:len(text)-len(body)+len(shown)], "\n") + 1
		fmt.Fprintf(&b, "\n[%d bytes are not shown; read %s from line %d]", cut, filepath.Join(s.Dir, FileName), line)
	}
	if others := s.others(); len(others) > 0 {
		b.WriteString("\n[Other files: " + strings.Join(others, ", ") + "]")
	}
	return tool.TextResult(b.String()).With(tool.Count(len(shown), "byte"), Details{Name: s.Name, Dir: s.Dir, Bytes: size, Cut: cut}), nil
}

func (s Skill) others() []string {
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
		case len(out) < maxOthers:
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

//go:embed skill.md
var skillText string
