package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/plan"
)

const (
	plannerRole = "planner"
	builderRole = "builder"
	handoffTool = "handoff"
)

// plansDir has the plans of a project, in its root.
const plansDir = ".tenon/plans"

// handoffs lets the role that a person chose execute a plan. It implements [plan.Receiver].
type handoffs struct {
	agent  *Agent
	opened atomic.Pointer[Opened]          // nil: no conversation of a person, so that no one hands over
	wide   atomic.Pointer[permission.Mode] // the last mode of the person that changes files; nil: none
	next   atomic.Pointer[string]          // the prompt after the run, which is over; empty: none; nil: the run goes on
}

// plans reports whether an agent makes plans, in a role and a mode.
func plans(role string, m permission.Mode) bool {
	return role == plannerRole || role == "" && m == permission.Plan
}

// hook ends the run of a plan that was handed over, and begins its execution.
func (h *handoffs) hook() agent.Hook {
	return agent.Hook{
		Name: handoffTool,
		BeforeTurn: func(context.Context, int) error {
			if h.next.Load() != nil {
				return agent.ErrDone
			}
			return nil
		},
		AfterRun: func(_ context.Context, end session.RunEnded) {
			if next := h.next.Swap(nil); next != nil && *next != "" && end.Reason != session.ReasonCancelled {
				go h.begin(*next) // it waits for the end of this run
			}
		},
	}
}

func (h *handoffs) begin(prompt string) {
	_, err := h.opened.Load().Conversation.Prompt(context.Background(), conversation.Prompt{Message: llm.UserText(prompt)})
	if err != nil && !errors.Is(err, agent.ErrClosed) {
		h.agent.Announce(live.Notice{Text: "the plan is not executed: " + err.Error()})
	}
}

// Keep implements [plan.Receiver]. The file is Tenon's own, as its directory is protected: undo leaves it there.
func (h *handoffs) Keep(_ context.Context, p plan.Plan) (string, error) {
	o := h.opened.Load()
	if o == nil {
		return "", errNotPlanning
	}
	text := strings.TrimSpace(p.Text) + "\n"
	if !strings.HasPrefix(text, "# ") {
		text = "# " + tool.Line(p.Title) + "\n\n" + text
	}
	planning := plans(h.agent.role.Load().Name, h.agent.site.policy.Load().Mode())
	name, err := keepPlan(o.Dir, slug(p.Title), o.Setup.Secrets.Redact(text), planning)
	if err != nil && !errors.Is(err, errNotPlanning) {
		err = fmt.Errorf("cannot write the plan: %w", err)
	}
	return name, err
}

var errNotPlanning = tool.Codef("handoff.not_planning", "only the role %s, or mode %s, hands over a plan", plannerRole, permission.Plan)

// keepPlan writes a plan to a new file, unless a file has it. No link leads out of the directory. Only a planner writes a file, but a call
// whose process ended finds its file also in another mode, which no session keeps. It follows no link to a new file.
func keepPlan(dir, title, text string, planning bool) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	base := plansDir + "/" + time.Now().Format(time.DateOnly) + "-" + title
	for i, name := 2, base+".md"; ; i, name = i+1, fmt.Sprintf("%s-%d.md", base, i) {
		had, err := root.ReadFile(name)
		if _, there := root.Lstat(name); errors.Is(err, fs.ErrNotExist) && there == nil { // a link that leads to no file
			continue
		}
		switch {
		case err == nil && string(had) == text: // the call is repeated
			return name, nil
		case errors.Is(err, fs.ErrNotExist) && !planning:
			return "", errNotPlanning
		case errors.Is(err, fs.ErrNotExist):
			if err := root.MkdirAll(plansDir, 0o755); err != nil {
				return "", err
			}
			f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if errors.Is(err, fs.ErrExist) { // since
				continue
			}
			if err != nil {
				return "", err
			}
			_, err = f.WriteString(text)
			return name, errors.Join(err, f.Close())
		case err != nil:
			return "", err
		}
	}
}

// slug returns the letters and digits of a title as a part of a file name.
func slug(title string) string {
	const most = 40
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	text := strings.Join(words, "-")
	return cmp.Or(strings.Trim(text[:min(len(text), most)], "-"), "plan")
}

// Roles implements [plan.Receiver]: the roles with a prompt that can change files.
func (h *handoffs) Roles(context.Context) (names []string, err error) {
	o := h.opened.Load()
	set, err := o.Setup.Roles(o.Dir)
	for _, r := range set.Roles {
		switch {
		case r.Prompt == "" || r.Mode != "" && !r.Mode.Changes() || r.Tools != nil && !slices.ContainsFunc(r.Tools, files.Changes):
		case r.Name == builderRole:
			names = slices.Insert(names, 0, r.Name)
		default:
			names = append(names, r.Name)
		}
	}
	return names, err
}

// Execute implements [plan.Receiver].
func (h *handoffs) Execute(ctx context.Context, file, name string, fresh bool) (string, error) {
	prompt := "Execute the plan in " + file + "."
	switch {
	case name == "":
		prompt = ""
	case fresh:
		id, err := h.create(ctx, prompt, name)
		if err != nil {
			return "", err
		}
		h.next.Store(new(string))
		return string(id), nil
	default:
		c, err := h.change(name)
		if err == nil {
			err = h.agent.change(ctx, c)
		}
		if err != nil {
			return "", err
		}
	}
	h.next.Store(&prompt)
	return "", nil
}

// change returns the change to a role that executes: the person's mode is again the one before they planned.
func (h *handoffs) change(name string) (c session.Change, err error) {
	o, mode := h.opened.Load(), permission.AskMode
	if m := h.wide.Load(); m != nil {
		mode = *m
	}
	set, err := o.Setup.Roles(o.Dir)
	if err != nil {
		return c, err
	}
	r, err := set.Named(name)
	return session.Change{Role: name, Mode: string(narrower(mode, r.Mode))}, err
}

// create makes a session in which a role executes a plan as soon as someone opens it. It has the model of this session, unless the planner
// brought that.
func (h *handoffs) create(ctx context.Context, prompt, name string) (session.SessionID, error) {
	o := h.opened.Load()
	c, err := h.change(name)
	if err != nil {
		return "", err
	}
	id, err := o.app.Store.Create(ctx, session.Created{
		Dir: o.Dir, Host: agent.Host(), Version: o.app.version, From: session.Origin{Session: h.agent.Session()},
	})
	if err != nil {
		return "", err
	}
	w, err := o.app.Store.Open(ctx, id, session.Lease{Owner: Owner(handoffTool)})
	if err != nil {
		return "", err
	}
	bodies := []session.Body{c, session.Queued{
		Draft: session.NewID(), Change: "added", Lane: session.FromFollowUp, Message: llm.UserText(prompt), Speaker: session.Speaker{Kind: session.SpeakerPerson},
	}}
	if h.agent.role.Load().Model == "" {
		bodies = append(bodies, session.ModelChanged{Model: h.agent.client().Model()})
	}
	_, err = w.Append(ctx, session.Stamp{}, bodies...)
	return id, errors.Join(err, w.Close())
}
