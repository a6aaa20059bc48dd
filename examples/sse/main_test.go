package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
)

func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// asking about pay
	// pay: paid
	// Paid.
	// resumed with run_ended
}

func example(ctx context.Context) error {
	pay := tool.New("pay", "Pays.", nil, func(context.Context, struct{}, tool.Report) (tool.Result, error) { return tool.TextResult("paid"), nil })
	policy, err := permission.New(permission.Options{Root: "/src", Home: "/home/user", Mode: permission.AskMode})
	if err != nil {
		return err
	}
	c, err := open(ctx, memory.New(), llmtest.Must("call pay\n---\ntext Paid."), policy, pay)
	if err != nil {
		return err
	}
	defer c.Close()
	srv := httptest.NewServer(handler(c))
	defer srv.Close()
	send := func(path string, body any) error {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		resp, err := http.Post(srv.URL+path, "application/json", strings.NewReader(string(data)))
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	if err := send("/prompt", "Pay."); err != nil {
		return err
	}
	var end int64
	err = follow(ctx, srv.URL, 0, func(e session.Event) (bool, error) {
		switch b := e.Body.(type) {
		case session.Asking:
			fmt.Println("asking about", b.Calls[0].Tool)
			return false, send("/answer", session.Answered{ID: b.ID, Answers: []ask.Answer{{Allow: true}}})
		case session.Message:
			switch {
			case b.Tool != "":
				fmt.Println(b.Tool+":", b.Text())
			case b.Model != "" && b.Text() != "":
				fmt.Println(b.Text())
			}
		case session.RunEnded:
			end = e.Seq
			return true, nil
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	return follow(ctx, srv.URL, end-1, func(e session.Event) (bool, error) {
		fmt.Println("resumed with", e.Body.Kind())
		return true, nil
	})
}

// follow reads events after a number until see returns true.
func follow(ctx context.Context, url string, after int64, see func(session.Event) (bool, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Last-Event-ID", fmt.Sprint(after))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e session.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return err
		}
		if done, err := see(e); done || err != nil {
			return err
		}
	}
	return lines.Err()
}
