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
	"errors"
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
	last := os.Args[len(os.Args)-1]
	var err error
	if strings.HasPrefix(last, "http") {
		err = run(last)
	} else {
		err = servers(last)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// person is who uses the program, with a configuration of their own.
type person struct {
	dir string
	env []string
}

// newPerson returns a person with a model, and a function that ends both.
func newPerson(model func(*modelserver.Request) modelserver.Step) (*person, func(), error) {
	dir, err := os.MkdirTemp("", "mcp-conformance-")
	if err != nil {
		return nil, nil, err
	}
	s, err := modelserver.Start(modelserver.Func(model))
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	env := append(os.Environ(), "HOME="+dir, "TENON_CONFIG_DIR="+dir, "TENON_DATA_DIR="+filepath.Join(dir, "data"), "TENON_KEYRING=off",
		"TENON_TITLES=off", "OPENAI_API_KEY=sk-conformance-0123456789", "OPENAI_BASE_URL="+s.URL+"/v1", "TENON_MODEL=openai/gpt-5.4")
	return &person{dir, env}, func() {
		s.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

func run(address string) error {
	p, stop, err := newPerson(caller())
	if err != nil {
		return err
	}
	defer stop()
	server, err := p.scenario(address)
	if err != nil {
		return err
	}
	if err := p.configure(server); err != nil {
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
		_, err = p.answer("Call each tool once.")
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

// scenario returns the configuration of the server of a scenario.
func (p *person) scenario(address string) (map[string]any, error) {
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
			return nil, err
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
			return nil, err
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
	return map[string]any{"url": address, "oauth": oauth}, nil
}

// configure writes the configuration with the server.
func (p *person) configure(server map[string]any) error {
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

// answer gives a model a prompt in a terminal, and gives each question of a server its default answer, and the name Ada to one that wants a
// name. It reports whether the terminal showed the progress of a call.
func (p *person) answer(prompt string) (progress bool, err error) {
	t := &steps{}
	defer t.end(&err)
	c := console.Start(t, p.command("--mode", "yolo"), console.Size{Width: 100, Height: 50}, console.Dark)
	c.Until("Ask, or / for commands")
	c.Send(prompt)
	c.Press("enter")
	const asks, half = "enter answer", "50%"
	for answered := ""; ; {
		s := c.Wait(func(s console.Screen) bool {
			return s.Has("─ done ·") || s.Has("─ failed") || s.Has(asks) && s.String() != answered || s.Has(half) && !progress
		}, "a question or the end")
		progress = progress || s.Has(half)
		switch {
		case s.Has("─ done ·") || s.Has("─ failed"):
			fmt.Println(s)
			return progress, nil
		case s.Has(asks) && s.String() != answered:
			if answered = s.String(); s.Has("Question 1 of") && s.Has("full, legal name") {
				c.Send("Ada")
			}
			c.Press("enter")
		}
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
