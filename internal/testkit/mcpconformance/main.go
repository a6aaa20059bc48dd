// Mcpconformance is the client that the conformance suite of MCP tests: it drives the program as a person would. It adds the server, logs in
// if the server needs that, and lets a model call each tool once. The script run next to it runs the suite.
//
// TENON is the program. The last argument is the address of the server.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

func main() {
	if err := run(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// person is who uses the program, with a configuration of their own.
type person struct {
	dir string
	env []string
}

func run(address string) (err error) {
	p := &person{}
	if p.dir, err = os.MkdirTemp("", "mcp-conformance-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	model, err := modelserver.Start(modelserver.Func(caller()))
	if err != nil {
		return err
	}
	defer model.Close()
	p.env = append(os.Environ(), "HOME="+p.dir, "TENON_CONFIG_DIR="+p.dir, "TENON_DATA_DIR="+filepath.Join(p.dir, "data"), "TENON_KEYRING=off",
		"TENON_TITLES=off", "OPENAI_API_KEY=sk-conformance-0123456789", "OPENAI_BASE_URL="+model.URL+"/v1", "TENON_MODEL=openai/gpt-5.4")
	if err := p.configure(address); err != nil {
		return err
	}
	out, err := p.tenon("mcp", "test", "server")
	if strings.Contains(out, "needs a login") {
		err = p.login()
	}
	if err != nil {
		return err
	}
	out, err = p.tenon("run", "--mode", "yolo", "Call each tool once.")
	if shown, _ := p.tenon("sessions", "show"); strings.Contains(out+shown, "needs a login") { // a call needs more than the first login
		if err = p.login(); err == nil {
			_, err = p.tenon("run", "--mode", "yolo", "Call each tool once.")
		}
	}
	return err
}

// configure writes the configuration with the server.
func (p *person) configure(address string) error {
	server := map[string]any{"url": address}
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given) == nil && given.ID != "" {
		oauth := map[string]any{"client_id": given.ID}
		if given.Secret != "" {
			oauth["client_secret"] = given.Secret
		}
		server["oauth"] = oauth
	}
	data, err := json.Marshal(map[string]any{"mcp": map[string]any{"server": server}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "tenon.json"), data, 0o600)
}

func (p *person) command(args ...string) *exec.Cmd {
	c := exec.Command(cmp.Or(os.Getenv("TENON"), "tenon"), args...)
	c.Dir, c.Env = p.dir, p.env
	return c
}

// tenon runs the program, and shows and returns its output.
func (p *person) tenon(args ...string) (string, error) {
	out, err := p.command(args...).CombinedOutput()
	fmt.Printf("$ tenon %s\n%s", strings.Join(args, " "), out)
	return string(out), err
}

// login logs in as a person with a browser would: it visits the address that the program prints, and follows the redirects.
func (p *person) login() error {
	c := p.command("mcp", "login", "--no-browser", "server")
	printed, err := c.StderrPipe()
	if err != nil {
		return err
	}
	c.Stdout = os.Stdout
	if err := c.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		fmt.Println(lines.Text())
		if address := strings.TrimSpace(lines.Text()); strings.HasPrefix(address, "http") {
			resp, err := http.Get(address)
			if err != nil {
				fmt.Println(err)
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	return c.Wait()
}

// caller returns a model that calls each tool of a server once, one after the other.
func caller() func(*modelserver.Request) modelserver.Step {
	var mu sync.Mutex
	called := map[string]bool{}
	return func(r *modelserver.Request) modelserver.Step {
		mu.Lock()
		defer mu.Unlock()
		for _, t := range r.Tools {
			if strings.HasPrefix(t.Name, "mcp__") && !called[t.Name] {
				called[t.Name] = true
				return modelserver.Call(t.Name, arguments(t.Schema))
			}
		}
		return modelserver.Say("done")
	}
}

// arguments returns some arguments that fit a flat schema.
func arguments(schema json.RawMessage) string {
	var s struct {
		Properties map[string]struct{ Type string }
	}
	_ = json.Unmarshal(schema, &s) // without properties there are no arguments
	out := map[string]any{}
	for name, property := range s.Properties {
		switch property.Type {
		case "number", "integer":
			out[name] = 2
		case "boolean":
			out[name] = true
		default:
			out[name] = "text"
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return "{}"
	}
	return string(data)
}
