//go:build linux || darwin

// Mcpconformance is the client that the conformance suite of MCP tests: it drives the program as a person would. It adds the server, logs in
// if the server needs that, lets a model call each tool once, and answers the questions of the server. The script run next to it runs the suite.
//
// TENON is the program, MCP_CONFORMANCE_SCENARIO the name of the scenario. The last argument is the address of the server.
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

	"github.com/tenon-agent/tenon/internal/testkit/console"
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
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	out, err := p.tenon("mcp", "test", "server")
	if strings.Contains(out, "needs a login") {
		err = p.login()
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(scenario, "elicitation") {
		return p.answer()
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
	var given struct {
		ID       string `json:"client_id"`
		Secret   string `json:"client_secret"`
		Key      string `json:"private_key_pem"`
		IDP      string `json:"idp_client_id"`
		IDToken  string `json:"idp_id_token"`
		TokenURL string `json:"idp_token_endpoint"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
	}
	scenario, oauth := os.Getenv("MCP_CONFORMANCE_SCENARIO"), map[string]any{}
	set := func(key, value string) {
		if value != "" {
			oauth[key] = value
		}
	}
	refer := func(key, variable, value string) {
		if value != "" {
			oauth[key], p.env = "$"+variable, append(p.env, variable+"="+value)
		}
	}
	set("client_id", given.ID)
	refer("client_secret", "CLIENT_SECRET", given.Secret)
	if given.Key != "" {
		set("private_key_file", "~/key.pem")
		if err := os.WriteFile(filepath.Join(p.dir, "key.pem"), []byte(given.Key), 0o600); err != nil {
			return err
		}
	}
	if strings.HasPrefix(scenario, "auth/client-credentials") {
		set("grant", "client_credentials")
	}
	if scenario == "auth/basic-cimd" {
		set("client_id", "https://conformance-test.local/client-metadata.json") // the suite expects this one
	}
	if given.IDToken != "" {
		p.env = append(p.env, "ID_TOKEN="+given.IDToken)
		oauth["idp"] = map[string]string{"token_url": given.TokenURL, "client_id": given.IDP, "id_token": "$ID_TOKEN"}
	}
	server := map[string]any{"url": address, "oauth": oauth}
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

// answer lets the model call the tools in a terminal, and gives each question of a server its default answer.
func (p *person) answer() (err error) {
	t := &steps{}
	defer t.end(&err)
	c := console.Start(t, p.command("--mode", "yolo"), console.Size{Width: 100, Height: 30}, console.Dark)
	c.Until("Ask, or / for commands")
	c.Send("Call each tool once.")
	c.Press("enter")
	for answered := ""; ; {
		s := c.Wait(func(s console.Screen) bool {
			return s.Has("─ done ·") || s.Has("enter answer") && s.String() != answered
		}, "a question or the end")
		if fmt.Println(s); !s.Has("enter answer") {
			return nil
		}
		answered = s.String()
		c.Press("enter")
	}
}

// steps are the steps of a person in a terminal. A step that fails ends them all.
type steps struct{ cleanups []func() }

type failed struct{ error }

func (*steps) Helper() {}

func (*steps) Fatalf(format string, args ...any) { panic(failed{fmt.Errorf(format, args...)}) }

func (t *steps) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// end ends the terminal, and returns the error of the step that failed.
func (t *steps) end(err *error) {
	if r := recover(); r != nil {
		f, ok := r.(failed)
		if !ok {
			panic(r)
		}
		*err = f.error
	}
	for _, f := range t.cleanups {
		f()
	}
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
