package app

import (
	"context"
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
// changes nothing gets none: a plan is its result.
type reminders struct {
	agent *Agent

	mu   sync.Mutex
	todo []plan.Item // of this run
	sent []string    // in this run
}

func (r *reminders) hook() agent.Hook {
	return agent.Hook{Name: "reminders", Speaker: session.SpeakerTenon, BeforeRun: r.begin, BeforeEnd: r.remind}
}

func (r *reminders) begin(context.Context, session.RunStarted) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.todo, r.sent = nil, nil
	return nil
}

// planned notes the todo list.
func (r *reminders) planned(items []plan.Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.todo = items
}

// remind returns the reminder after an answer, and "" for none. It says nothing that it has said before.
func (r *reminders) remind(context.Context, llm.Message) string {
	a := r.agent
	if mode := a.site.policy.Load().Mode(); a.spec.Ask || mode == permission.Plan || mode == permission.Inspect || isOffline(a.client()) {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var open []string
	for _, item := range r.todo {
		if item.Status != plan.Completed {
			open = append(open, "- "+item.Text)
		}
	}
	var text strings.Builder
	if len(open) > 0 {
		text.WriteString("Your todo list has open items:\n" + strings.Join(open, "\n") + "\nComplete them, or remove those that are not needed.\n")
	}
	for _, j := range a.site.jobs() {
		if j.Ended.IsZero() {
			line, _, _ := strings.Cut(a.site.secrets.Redact(j.Command.Line), "\n")
			line, _ = tool.Bound(line, 200)
			text.WriteString("The background job " + j.ID + " is running: " + line + "\nWait for it if you need its result. It ends when you finish.\n")
		}
	}
	if text.Len() == 0 || len(r.sent) == maxReminders || len(r.sent) > 0 && r.sent[len(r.sent)-1] == text.String() {
		return ""
	}
	r.sent = append(r.sent, text.String())
	return text.String() + "If something blocks you, say so in your final answer and finish."
}
