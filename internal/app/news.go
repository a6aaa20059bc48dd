package app

import (
	"context"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

// news reports the end of each background job to the model, once: by a tool, or by a draft.
type news struct {
	agent *Agent

	mu     sync.Mutex
	drafts map[string]session.ID // by job; empty: a tool has reported the end
}

// ended queues a draft about the end of a job, unless the model knows of it.
func (n *news) ended(j workspace.JobStatus) {
	if j.Awaited || j.Killed {
		return
	}
	text := n.agent.site.secrets.Redact(shell.Ended(j))
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.drafts[j.ID]; known {
		return
	}
	m := session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerJob, Name: j.ID}}
	d, err := n.agent.Queue(context.Background(), request.Draft{Lane: session.FromNews, Message: m})
	if err == nil { // if the journal fails, the run reports that
		n.note(j.ID, d.ID)
	}
}

// reported removes the draft about a job whose end a tool has reported.
func (n *news) reported(job string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if draft := n.drafts[job]; draft != "" {
		_, _ = n.agent.Request(context.Background(), session.Queued{Draft: draft, Change: "removed"}) // unless a run took it
	}
	n.note(job, "")
}

func (n *news) note(job string, draft session.ID) {
	if n.drafts == nil {
		n.drafts = make(map[string]session.ID)
	}
	n.drafts[job] = draft
}
