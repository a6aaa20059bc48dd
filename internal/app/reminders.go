package app

import (
	"context"
	"iter"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/plan"
)

// maxReminders is how often the model of a run is reminded of unfinished work.
const maxReminders = 2

// reminders continue a run that no one watches if the model stops while its todo list is open or a background job runs. A run in a mode that
// changes nothing gets none: a plan is its result. Neither does a run that pursues a goal, which is not completed before that work.
type reminders struct {
	agent *Agent

	mu   sync.Mutex
	todo []plan.Item // of this run, or of all runs for a goal
	sent []string    // in this run
}

func (r *reminders) hook() agent.Hook {
	return agent.Hook{Name: "reminders", Speaker: session.SpeakerTenon, BeforeRun: r.begin, BeforeEnd: r.remind}
}

func (r *reminders) begin(ctx context.Context, _ session.RunStarted) error {
	g, err := r.agent.goal.Goal(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sent = nil; !g.Open() {
		r.todo = nil
	}
	return err
}

// open returns the open work, for a goal.
func (r *reminders) open(context.Context) (all []string) {
	for _, item := range r.items() {
		all = append(all, "the item of your todo list: "+item)
	}
	for id, line := range r.jobs() {
		all = append(all, "the background job "+id+", which is running: "+line)
	}
	return all
}

// items returns the open items of the todo list.
func (r *reminders) items() (open []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, item := range r.todo {
		if item.Status != plan.Completed {
			open = append(open, item.Text)
		}
	}
	return open
}

// jobs yields the running background jobs with the first lines of their commands.
func (r *reminders) jobs() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, j := range r.agent.site.jobs() {
			if !j.Ended.IsZero() {
				continue
			}
			line, _, _ := strings.Cut(r.agent.site.secrets.Redact(j.Command.Line), "\n")
			if line, _ = tool.Bound(line, 200); !yield(j.ID, line) {
				return
			}
		}
	}
}

// planned notes the todo list.
func (r *reminders) planned(items []plan.Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.todo = items
}

// remind returns the reminder after an answer, and "" for none. It says nothing that it has said before.
func (r *reminders) remind(ctx context.Context, _ llm.Message) string {
	a := r.agent
	if mode := a.site.policy.Load().Mode(); a.spec.Ask || mode == permission.Plan || mode == permission.Inspect || isOffline(a.client()) {
		return ""
	}
	if g, err := a.goal.Goal(ctx); err != nil || g.Open() {
		return ""
	}
	var text strings.Builder
	if open := r.items(); len(open) > 0 {
		text.WriteString("Your todo list has open items:\n- " + strings.Join(open, "\n- ") + "\nComplete them, or remove those that are not needed.\n")
	}
	for id, line := range r.jobs() {
		text.WriteString("The background job " + id + " is running: " + line + "\nWait for it if you need its result. It ends when you finish.\n")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if text.Len() == 0 || len(r.sent) == maxReminders || len(r.sent) > 0 && r.sent[len(r.sent)-1] == text.String() {
		return ""
	}
	r.sent = append(r.sent, text.String())
	return text.String() + "If something blocks you, say so in your final answer and finish."
}
