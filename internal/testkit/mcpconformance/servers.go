//go:build linux || darwin

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// wish is a call that the model makes of a server, and what must be in its result.
type wish struct{ tool, arguments, wants string }

// everything are the wishes for server-everything.
var everything = []wish{
	{"echo", `{"message":"the owl sleeps"}`, "Echo: the owl sleeps"},
	{"get_sum", `{"a":19,"b":23}`, "is 42"},
	{"get_tiny_image", `{}`, "MCP logo"},
	{"get_structured_content", `{"location":"Chicago"}`, `"conditions":"Light rain / drizzle"`},
	{"get_resource_reference", `{"resourceType":"Text","resourceId":1}`, "demo://resource/dynamic/text/1"},
	{"get_annotated_message", `{"messageType":"error","includeImage":true}`, "Operation failed"},
	{"trigger_long_running_operation", `{"duration":2,"steps":4}`, "Long running operation completed"},
	{"trigger_elicitation_request", `{}`, "Name: Ada"},
	{"get_roots_list", `{}`, "file://"},
}

// files are the wishes for server-filesystem.
var files = []wish{
	{"list_directory", `{"path":"."}`, "note.txt"},
	{"read_text_file", `{"path":"note.txt"}`, "the owl sleeps"},
	{"write_file", `{"path":"new.txt","content":"written"}`, "Successfully wrote"},
	{"read_text_file", `{"path":"/etc/passwd"}`, "Access denied"},
}

// The file that server-filesystem reads.
const (
	note = "note.txt"
	owl  = "the owl sleeps\n"
)

// servers drives the servers that npm installed in a directory: server-everything with each of its transports, and server-filesystem.
func servers(dir string) error {
	script := func(name string) string {
		return filepath.Join(dir, "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	}
	drive := func(name string, server map[string]any, wishes []wish, mention string) error {
		err := wanted(server, wishes, mention)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println("works:", name)
		return nil
	}
	const mention = " @server:demo://resource/dynamic/text/7"
	errs := []error{
		drive("server-filesystem over stdio", map[string]any{"command": "node", "args": []string{script("server-filesystem"), "."}}, files, ""),
		drive("server-everything over stdio", map[string]any{"command": "node", "args": []string{script("server-everything")}}, everything, mention),
	}
	errs = append(errs, func() error {
		address, stop, err := bridged("node", script("server-filesystem"), ".")
		if err != nil {
			return err
		}
		defer stop()
		return drive("server-filesystem over streamableHttp, by a bridge", map[string]any{"url": address}, files, "")
	}())
	for transport, path := range map[string]string{"streamableHttp": "/mcp", "sse": "/sse"} {
		errs = append(errs, func() error {
			address, stop, err := listening(script("server-everything"), transport)
			if err != nil {
				return err
			}
			defer stop()
			server := map[string]any{"url": address + path}
			if transport == "sse" {
				server["transport"] = "sse"
			}
			return drive("server-everything over "+transport, server, everything, mention)
		}())
	}
	return errors.Join(errs...)
}

// listening starts server-everything on the network, and returns its address.
func listening(script, transport string) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		return "", nil, err
	}
	c := exec.Command("node", script, transport)
	c.Env = append(os.Environ(), "PORT="+port)
	printed, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(printed)
	for lines.Scan() && !strings.Contains(lines.Text(), port) {
	}
	var reads sync.WaitGroup
	reads.Go(func() {
		for lines.Scan() { // so that it can write
		}
	})
	return "http://127.0.0.1:" + port, func() {
		_ = c.Process.Kill()
		reads.Wait()
		_ = c.Wait()
	}, nil
}

// bridged starts a server that only has stdio, and offers its tools on the network.
func bridged(command ...string) (address string, stop func(), err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mcp-bridge-")
	if err != nil {
		return "", nil, err
	}
	c := exec.Command(command[0], command[1:]...)
	c.Dir = dir
	behind, err := mcp.NewClient(&mcp.Implementation{Name: "bridge"}, nil).Connect(ctx, &mcp.CommandTransport{Command: c}, nil)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	front := mcp.NewServer(&mcp.Implementation{Name: "bridge"}, nil)
	for t, err := range behind.Tools(ctx, nil) {
		if err != nil {
			return "", nil, errors.Join(err, behind.Close(), os.RemoveAll(dir))
		}
		front.AddTool(t, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return behind.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	}
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return front }, nil))
	err = os.WriteFile(filepath.Join(dir, note), []byte(owl), 0o600)
	return s.URL, func() {
		s.Close()
		_ = behind.Close()
		_ = os.RemoveAll(dir)
	}, err
}

// wanted lets a model make its wishes in a terminal.
func wanted(server map[string]any, wishes []wish, mention string) (err error) {
	var mu sync.Mutex
	var got []string // the results
	var prompt string
	images := 0
	p, stop, err := newPerson(func(r *modelserver.Request) modelserver.Step {
		mu.Lock()
		defer mu.Unlock()
		got, images = nil, r.Images()
		for _, m := range r.Results() {
			got = append(got, m.Text())
		}
		if len(got) == 0 {
			prompt = r.LastUser()
		}
		if len(got) < len(wishes) {
			next := wishes[len(got)]
			for _, t := range r.Tools {
				if strings.ReplaceAll(t.Name, "-", "_") == "mcp__server__"+next.tool {
					return modelserver.Call(t.Name, next.arguments)
				}
			}
			return modelserver.Say("There is no tool " + next.tool)
		}
		return modelserver.Say("done")
	})
	if err != nil {
		return err
	}
	defer stop()
	if err := os.WriteFile(filepath.Join(p.dir, note), []byte(owl), 0o600); err != nil {
		return err
	}
	if err := p.configure(server); err != nil {
		return err
	}
	if out, err := p.tenon("mcp", "test", "server"); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	progress, err := p.answer("Call the tools." + mention)
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	var errs []error
	for i, w := range wishes {
		if i >= len(got) {
			errs = append(errs, fmt.Errorf("%s was not called", w.tool))
		} else if !strings.Contains(got[i], w.wants) {
			errs = append(errs, fmt.Errorf("the result of %s has no %q: %s", w.tool, w.wants, got[i]))
		}
	}
	if mention != "" && !strings.Contains(prompt, "Resource 7: This is a plaintext resource") {
		errs = append(errs, fmt.Errorf("the prompt has no resource: %s", prompt))
	}
	if mention != "" && images != 2 {
		errs = append(errs, fmt.Errorf("the model saw %d pictures, want 2", images))
	}
	if mention != "" && !progress {
		errs = append(errs, errors.New("the terminal showed no progress"))
	}
	return errors.Join(errs...)
}
