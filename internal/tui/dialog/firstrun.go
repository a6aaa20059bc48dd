package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// Way is a way to a model that the guide of the first run offers.
type Way struct {
	Ref      string // the model that it leads to; empty for a provider whose key is missing
	Title    string // such as "Anthropic"
	Why      string // such as "the key in $ANTHROPIC_API_KEY", "a server on this machine"
	Provider string // with NeedsKey: the provider
	NeedsKey bool
}

// Try asks the owner to try a model, with a new key if Key is not empty. The owner then calls [FirstRun.Tried]. The owner must not log it.
type Try struct {
	Dialog   *FirstRun
	Ref      string
	Provider string
	Key      string
}

// Ready is the outcome of a [FirstRun]: a model that works.
type Ready struct {
	Dialog Dialog
	Ref    string
}

// FirstRun is the guide of the first run. It ends in a working model: one whose key or server Tenon found, one with a key that the person
// enters, or the offline model.
type FirstRun struct {
	base
	notes   []string
	list    *Picker[Way]
	way     *Way    // that the person chose
	key     *Prompt // nil: the list is visible
	trying  bool
	failure string // of the list
}

// NewFirstRun returns the guide. It searches until SetWays. Notes are facts about the directory, such as instructions of other agents that
// Tenon reads.
func NewFirstRun(notes []string, o *Options) *FirstRun {
	d := &FirstRun{base: base{o: o, title: "Welcome to Tenon"}, notes: notes}
	list := List[Way]{
		Accept: "use", Columns: []Column{{}, {}, {}}, Head: d.head,
		Row: func(w Way) Row[Way] {
			section := "Ready to use"
			if w.NeedsKey {
				section = "With an API key"
			}
			return Row[Way]{Section: section, Cells: []string{w.Title, w.Ref, w.Why}}
		},
	}
	list.pick = func(_ Key[Way], w Way, _ string) tea.Cmd {
		if d.way, d.failure = &w, ""; !w.NeedsKey {
			return d.try("")
		}
		about := "Enter the API key for " + w.Title + ". Tenon keeps it in the keyring of the system, or in a private file."
		d.key = NewPrompt("", about, "", true, o)
		d.key.accept = d.try
		return nil
	}
	d.list = NewPicker(list, o)
	d.list.owner, d.list.loading = d, "looking for keys and for model servers on this machine"
	return d
}

// SetWays shows the ways, those that work at once first.
func (d *FirstRun) SetWays(ways []Way) { d.list.Set(ways, "") }

func (d *FirstRun) try(key string) tea.Cmd {
	d.trying = true
	return emit(Try{d, d.way.Ref, d.way.Provider, key})
}

// Tried reports the result of a [Try]: the model that works, or why none does.
func (d *FirstRun) Tried(ref, failure string) tea.Cmd {
	if !d.trying {
		return nil
	}
	d.trying = false
	switch {
	case failure == "":
		return closing(d, Ready{d, ref})
	case d.key != nil:
		d.key.field.Set("")
		d.key.wrong = failure
	default:
		d.failure = failure
	}
	return nil
}

func (d *FirstRun) Update(msg tea.Msg) tea.Cmd {
	cancel := d.o.is(msg, keys.Cancel)
	switch {
	case d.trying && cancel:
		d.trying = false
	case d.trying:
	case d.key != nil && cancel:
		d.key = nil
	default:
		return d.visible().Update(msg)
	}
	return nil
}

// visible is the list, or the prompt of a key.
func (d *FirstRun) visible() Dialog {
	if d.key != nil {
		return d.key
	}
	return d.list
}

func (d *FirstRun) Hints() []Hint {
	if d.trying {
		return []Hint{d.o.hint(keys.Cancel, "cancel")}
	}
	return d.visible().Hints()
}

func (d *FirstRun) Cursor() (x, y int, ok bool) {
	x, y, ok = d.visible().Cursor()
	return x, y, ok && !d.trying
}

// head is the text above the list.
func (d *FirstRun) head(width int) (lines []string) {
	t := d.o.Theme
	lines = painted(t.Text, wrap("Tenon needs a model. Choose one; /model changes it at any time.", width))
	for _, n := range d.notes {
		lines = append(lines, painted(t.Info, wrap(term.OneLine(n), width))...)
	}
	if d.failure != "" {
		lines = append(lines, painted(t.Bad, wrap(term.OneLine(d.failure), width))...)
	}
	return append(lines, "")
}

func (d *FirstRun) Lines(width, height int) []string {
	if d.trying {
		return clip(painted(d.o.Theme.Dim, wrap("Asking "+term.OneLine(d.way.Title)+" for a short answer", width)), width, height)
	}
	return d.visible().Lines(width, height)
}
