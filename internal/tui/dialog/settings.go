package dialog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/transcript"
)

// Model is a row of the models: a model or a pool.
type Model struct {
	Ref     string
	Group   string // heading: the provider, or "pools"
	Window  int    // tokens; 0: unknown
	Assumed bool   // the window is a guess
	In, Out float64
	Can     string   // abilities, such as "images, thinking"
	Members []string // of a pool
	Health  []string // facts in words: a key that rests, a model that answers for another one
	Why     string   // why it is not usable; empty: it is
	Default bool
	Current bool
}

// NewModels returns a picker of models and pools. Set fills it.
func NewModels(o *Options) *Picker[Model] {
	return NewPicker(List[Model]{
		Title: "Models", Accept: "use", Empty: "No model is known.",
		Columns: []Column{{Head: "MODEL"}, {Head: "WINDOW", Right: true}, {Head: "$/M IN", Right: true}, {Head: "OUT", Right: true}, {Head: "CAN", Drop: 1}, {Head: "STATE"}},
		Row: func(m Model) Row[Model] {
			state := ""
			switch {
			case len(m.Health) > 0:
				state = m.Health[0]
			case m.Default:
				state = "default"
			}
			return Row[Model]{
				Section: m.Group, Cells: []string{m.Ref, m.window(), price(m.In), price(m.Out), m.Can, state},
				Find: strings.Join(m.Members, " "), Off: m.Why, Current: m.Current, Detail: m.detail(),
			}
		},
	}, o)
}

func (m Model) window() string {
	switch {
	case m.Window <= 0:
		return ""
	case m.Assumed:
		return "?" + transcript.Tokens(int64(m.Window))
	}
	return transcript.Tokens(int64(m.Window))
}

func price(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// detail is the facts of a model, one to a line.
func (m Model) detail() string {
	facts := []string{m.Ref}
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, label+text)
		}
	}
	if m.Window > 0 {
		add("context window: ", m.window()+" tokens")
	}
	if m.Assumed {
		add("", "The context window is a guess. Set it in the configuration.")
	}
	if m.In+m.Out > 0 {
		add("price of a million tokens: ", "$"+price(m.In)+" in, $"+price(m.Out)+" out")
	}
	add("abilities: ", m.Can)
	for _, member := range m.Members {
		add("  ", member)
	}
	for _, h := range m.Health {
		add("", h)
	}
	add("not usable: ", m.Why)
	return strings.Join(facts, "\n")
}

// NewModes returns a picker of the permission modes.
func NewModes(current permission.Mode, o *Options) *Picker[permission.Mode] {
	return newFilled(permission.Modes(), List[permission.Mode]{
		Title: "Mode", Accept: "use", Columns: []Column{{}, {}},
		Row: func(m permission.Mode) Row[permission.Mode] {
			return Row[permission.Mode]{Cells: []string{string(m), m.About()}, Current: m == current}
		},
	}, o)
}

// NewThinking returns a picker of thinking levels: those of the model, if they are known.
func NewThinking(m llm.Model, current llm.Thinks, o *Options) *Picker[llm.Thinks] {
	words := map[llm.Thinks]string{
		llm.ThinkDefault: "the level of the model for coding", llm.ThinkProvider: "whatever the provider does", llm.ThinkOff: "no reasoning before the answer",
	}
	levels := m.Thinks
	if len(levels) == 0 {
		levels = llm.Levels()
	}
	levels = append([]llm.Thinks{llm.ThinkDefault, llm.ThinkProvider}, levels...)
	return newFilled(levels, List[llm.Thinks]{
		Title: "Thinking", Accept: "use", Columns: []Column{{}, {}},
		Row: func(level llm.Thinks) Row[llm.Thinks] {
			name := string(level)
			if level == llm.ThinkDefault {
				name = "(model)"
			}
			return Row[llm.Thinks]{Cells: []string{name, words[level]}, Current: level == current}
		},
	}, o)
}

// ThemeName is the name of a theme.
type ThemeName string

// NewThemes returns a picker of themes. [Moved] asks for a preview. If the picker closes without an outcome, the shell restores the theme.
func NewThemes(current string, o *Options) *Picker[ThemeName] {
	var names []ThemeName
	for _, n := range theme.Names() {
		names = append(names, ThemeName(n))
	}
	return newFilled(names, List[ThemeName]{
		Title: "Theme", Accept: "use", Columns: []Column{{}}, Moves: true,
		Row: func(n ThemeName) Row[ThemeName] {
			return Row[ThemeName]{Cells: []string{string(n)}, Current: string(n) == current}
		},
	}, o)
}

// Skill is a skill that the model or a person can use.
type Skill struct {
	Name, About, Where string
	Off                string // why it cannot be used
}

// NewSkills returns a picker of skills.
func NewSkills(o *Options) *Picker[Skill] {
	return NewPicker(List[Skill]{
		Title: "Skills", Accept: "use", Empty: "There is no skill. Put skills into .agents/skills or .claude/skills.", Columns: []Column{{Head: "SKILL"}, {Head: "ABOUT"}},
		Row: func(s Skill) Row[Skill] {
			return Row[Skill]{Cells: []string{s.Name, s.About}, Off: s.Off, Detail: strings.Join(slices.DeleteFunc([]string{s.Name, s.About, s.Where}, func(s string) bool { return s == "" }), "\n\n")}
		},
	}, o)
}

// Role is a role that the agent can have.
type Role struct {
	Name, About, Model, Source string
	Current                    bool
}

// NewRoles returns a picker of roles. Set fills it.
func NewRoles(o *Options) *Picker[Role] {
	return NewPicker(List[Role]{
		Title: "Roles", Accept: "use", Empty: "There is no role.", Columns: []Column{{Head: "ROLE"}, {Head: "MODEL", Drop: 1}, {Head: "ABOUT"}},
		Row: func(r Role) Row[Role] {
			facts := []string{r.Name, r.About, r.Source}
			if r.Model != "" {
				facts = append(facts, "model: "+r.Model)
			}
			return Row[Role]{Cells: []string{r.Name, r.Model, r.About}, Current: r.Current, Detail: strings.Join(facts, "\n\n")}
		},
	}, o)
}

// NewRules returns a picker of the permission rules in force: remove a grant.
func NewRules(o *Options) *Picker[conversation.Rule] {
	from := map[permission.Scope]string{permission.Session: "this session", permission.User: "you", permission.Project: "the project"}
	return NewPicker(List[conversation.Rule]{
		Title: "Permissions", Empty: "There is no rule: the mode decides.", Columns: []Column{{}, {Head: "RULE"}, {Head: "FROM"}, {}},
		Keys: []Key[conversation.Rule]{{
			Action: keys.Delete, Words: "remove", Confirm: func(r conversation.Rule) string { return "Remove the grant " + r.Text + "?" },
			Stay: true, Can: func(r conversation.Rule) bool { return r.Granted },
		}},
		Row: func(r conversation.Rule) Row[conversation.Rule] {
			granted := ""
			if r.Granted {
				granted = "granted"
			}
			return Row[conversation.Rule]{Cells: []string{string(r.Action), r.Text, from[r.Scope], granted}, Detail: string(r.Action) + " " + r.Text + "\n\n" + r.Words}
		},
	}, o)
}
