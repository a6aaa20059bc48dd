// Command sse serves a conversation over HTTP: GET /events streams it and resumes after Last-Event-ID, POST /prompt, /abort and /answer
// drive it. Any number of browsers can follow.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
)

// open opens the last conversation. Its calls need approval as the policy says.
func open(ctx context.Context, store index.Store, client llm.Client, policy *permission.Policy, tools ...tool.Tool) (*conversation.Local, error) {
	var c *conversation.Local
	ask := func(ctx context.Context, q session.Asking) ([]ask.Answer, error) { return c.Ask(ctx, q) }
	gate := approval.NewGate(approval.Options{Judge: policy, Broker: approval.NewBroker(ask, 0)})
	c, _, err := conversation.Open(ctx, store, conversation.Which{Dir: "/", Last: true, New: true},
		agent.Options{Client: client, Gate: gate, Tools: tools})
	return c, err
}

func handler(c conversation.Conversation) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64) // 0: from the beginning
		w.Header().Set("Content-Type", "text/event-stream")
		for e, err := range c.Follow(r.Context(), after) {
			data, _ := json.Marshal(e)
			if err != nil {
				return
			}
			if e.Durable() {
				fmt.Fprintf(w, "id: %d\n", e.Seq)
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
			http.NewResponseController(w).Flush()
		}
	})
	post(mux, "/prompt", func(ctx context.Context, text string) error {
		_, err := c.Prompt(ctx, conversation.Prompt{Message: llm.UserText(text)})
		return err
	})
	post(mux, "/abort", func(ctx context.Context, _ string) error { return c.Abort(ctx) })
	post(mux, "/answer", func(ctx context.Context, a session.Answered) error { return c.Answer(ctx, a.ID, a.Answers...) })
	return mux
}

// post handles requests with a body of JSON.
func post[T any](mux *http.ServeMux, path string, do func(context.Context, T) error) {
	mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
		var in T
		err := json.NewDecoder(r.Body).Decode(&in)
		if err == nil {
			err = do(r.Context(), in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
}

func main() {
	client, err := models.Client(os.Args[1])
	policy, e := permission.New(permission.Options{Root: "/", Home: os.Getenv("HOME"), Mode: permission.AskMode})
	if err = errors.Join(err, e); err != nil {
		log.Fatal(err)
	}
	c, err := open(context.Background(), memory.New(), client, policy)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", handler(c)))
}
