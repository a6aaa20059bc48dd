package hooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Layer is a source of hooks.
type Layer struct {
	File    string          // its name
	Dir     string          // the directory of a project that has it in a directory of Claude Code; else empty
	Project bool            // the source is a project: its hooks allow nothing
	Hooks   json.RawMessage // the object "hooks"
}

// Handler is one hook.
type Handler struct {
	Event   Event             `json:"event"`
	Matcher string            `json:"matcher,omitzero"`
	Type    string            `json:"type"`             // command or http
	If      string            `json:"if,omitzero"`      // a permission rule that the call must match
	Command string            `json:"command,omitzero"` // of the shell, or the program of Args
	Args    []string          `json:"args,omitzero"`    // not nil: the program runs without a shell
	URL     string            `json:"url,omitzero"`     // gets the JSON by POST
	Headers map[string]string `json:"headers,omitzero"` // with $NAME for the variables in Vars
	Vars    []string          `json:"allowedEnvVars,omitzero"`
	Timeout time.Duration     `json:"-"`
	Async   bool              `json:"async,omitzero"`       // Tenon does not wait for it, and it decides nothing
	Wakes   bool              `json:"asyncRewake,omitzero"` // async, and the model gets the reason of exit code 2
	Blocks  bool              `json:"-"`                    // a failure of the hook blocks
	Source  string            `json:"source"`               // the file
	Project bool              `json:"project,omitzero"`     // the source is a project

	Dir     string `json:"-"` // CLAUDE_PROJECT_DIR; empty: that of the runner
	matches func(name string) bool
}

// Title names the hook for people.
func (h Handler) Title() string {
	return strings.Join(append([]string{cmp.Or(h.Command, h.URL)}, h.Args...), " ")
}

// same reports whether two hooks do the same, so that one of them is enough.
func (h Handler) same(o Handler) bool {
	return h.Type == o.Type && h.Command == o.Command && (h.Args == nil) == (o.Args == nil) && slices.Equal(h.Args, o.Args) && h.URL == o.URL &&
		h.If == o.If && h.Async == o.Async && h.Wakes == o.Wakes && h.Blocks == o.Blocks && h.Project == o.Project && h.Dir == o.Dir && maps.Equal(h.Headers, o.Headers)
}

// group is a matcher with its hooks in a file.
type group struct {
	Matcher *string           `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// written is a hook in a file.
type written struct {
	Type       string            `json:"type"`
	If         string            `json:"if"`
	Command    string            `json:"command"`
	Args       []string          `json:"args"`
	Shell      string            `json:"shell"`
	URL        string            `json:"url"`
	Headers    map[string]string `json:"headers"`
	Vars       []string          `json:"allowedEnvVars"`
	Timeout    *float64          `json:"timeout"` // seconds
	Async      bool              `json:"async"`
	AsyncWakes bool              `json:"asyncRewake"`
	OnFailure  string            `json:"onFailure"`
}

// Parse reads the hooks of a layer. The problems name the hooks without an effect; the others count.
func Parse(l Layer) (all []Handler, problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, l.File+": "+fmt.Sprintf(format, args...))
	}
	var events map[Event]json.RawMessage
	if err := json.Unmarshal(l.Hooks, &events); err != nil {
		problem("hooks: expected an object of events: %v", err)
		return nil, problems
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		if !slices.Contains(Events(), event) {
			problem("hooks.%s: Tenon has no such event", event)
			continue
		}
		var groups []group
		if err := json.Unmarshal(events[event], &groups); err != nil {
			problem("hooks.%s: expected a list of matchers with hooks: %v", event, err)
			continue
		}
		for i, g := range groups {
			h := Handler{Event: event, Source: l.File, Dir: l.Dir, Project: l.Project}
			if g.Matcher != nil {
				h.Matcher = *g.Matcher
			}
			var err error
			if h.matches, err = matcher(h.Matcher); err != nil {
				problem("hooks.%s[%d]: %v", event, i, err)
				continue
			}
			for j, raw := range g.Hooks {
				one := h
				if err := one.read(raw); err != nil {
					problem("hooks.%s[%d].hooks[%d]: %v", event, i, j, err)
					continue
				}
				all = append(all, one)
			}
		}
	}
	return all, problems
}

// read reads a hook.
func (h *Handler) read(raw json.RawMessage) error {
	var w written
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	switch w.Type {
	case "command":
		if strings.TrimSpace(w.Command) == "" {
			return fmt.Errorf("a hook of type command needs a command")
		}
		if w.Shell != "" && w.Shell != "bash" {
			return fmt.Errorf("the shell %q is not supported; remove it, and Tenon uses the shell of the system", w.Shell)
		}
	case "http":
		if u, err := url.Parse(w.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("a hook of type http needs a url that begins with http:// or https://")
		}
		if w.Async {
			return fmt.Errorf("only a hook of type command can be async")
		}
	default:
		return fmt.Errorf("the type %q is not supported; Tenon runs hooks of type command and http", w.Type)
	}
	if w.If != "" && !h.Event.OfTools() {
		return fmt.Errorf("only a hook about a tool can have if; this hook never runs")
	}
	h.Type, h.If, h.Command, h.Args, h.URL, h.Headers, h.Vars, h.Async = w.Type, w.If, w.Command, w.Args, w.URL, w.Headers, w.Vars, w.Async || w.AsyncWakes
	h.Wakes, h.Blocks = w.AsyncWakes, w.OnFailure == "block"
	h.Timeout = h.Event.timeout()
	if w.Timeout != nil {
		if *w.Timeout <= 0 || *w.Timeout > math.MaxInt32 {
			return fmt.Errorf("timeout: expected a number of seconds above 0")
		}
		h.Timeout = time.Duration(*w.Timeout * float64(time.Second))
	}
	if h.Event == SessionEnd {
		h.Timeout = min(h.Timeout, time.Minute)
	}
	return nil
}

// matcher returns the function of a matcher: all names, a list of names, or a regular expression that a part of the name matches.
func matcher(text string) (func(string) bool, error) {
	if text == "" || text == "*" {
		return func(string) bool { return true }, nil
	}
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_ ,|-", r))
	}) {
		names := strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ',' })
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		return func(name string) bool { return slices.Contains(names, name) }, nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("the matcher %q is no regular expression: %v", text, err)
	}
	return pattern.MatchString, nil
}

// Check returns an error if the event or its matcher are unknown here; for tests of a configuration.
func (e Event) Check() error {
	if !slices.Contains(Events(), e) {
		names := make([]string, len(Events()))
		for i, one := range Events() {
			names[i] = string(one)
		}
		return fmt.Errorf("unknown event %q; the events are %s", e, strings.Join(names, ", "))
	}
	return nil
}
