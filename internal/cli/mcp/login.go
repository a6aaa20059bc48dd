package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/tool/mcp"
)

// loginTime is how long a person may take to log in.
const loginTime = 10 * time.Minute

func newLogin(env *command.Env) *cobra.Command {
	var noBrowser bool
	c := &cobra.Command{
		Use:   "login NAME",
		Short: "Log in at an MCP server on the network",
		Long: `Log in at an MCP server on the network. Tenon prints an address, opens it in your browser, and
waits for the browser to come back. The token is in the keyring of the system, or in a file
that only you can read. No other command opens a browser.`,
		Args: command.ExactArgs("the name of a server"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := placeOf(env, "")
			if err != nil {
				return err
			}
			return p.logIn(c.Context(), env, args[0], !noBrowser)
		},
		ValidArgsFunction: complete(env),
	}
	c.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address")
	return c
}

func (p *place) logIn(ctx context.Context, env *command.Env, name string, browse bool) error {
	c, err := p.named(name)
	if err != nil {
		return err
	}
	if !c.URL.IsSet() {
		return fmt.Errorf("%s is a program on this machine, which needs no login; set its secrets in mcp.%s.env", name, name)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.OAuth.Port)))
	if err != nil {
		return fmt.Errorf("cannot wait for the browser: %w; set another port in mcp.%s.oauth.port", err, name)
	}
	back := newCallback(listener)
	defer back.close()
	server := app.MCPServer(p.setup, name, c, p.bounds.Root)
	server.Start = loginTime
	o := app.MCPOptions(p.setup, p.bounds, env.Version)
	visited := false
	o.OAuth.Redirect = "http://" + listener.Addr().String() + callbackPath
	o.OAuth.Visit = func(ctx context.Context, address string) (url.Values, error) {
		visited = true
		env.Tell("Log in here:\n  %s", address)
		if browse {
			open(ctx, address)
		}
		return back.wait(ctx)
	}
	client := mcp.New([]mcp.Server{server}, o)
	defer client.Close()
	status, err := client.Connect(ctx, name)
	switch {
	case err != nil:
		return err
	case !visited:
		return env.Print(false, command.Result{Text: fmt.Sprintf("%s needs no login\n", name)})
	}
	t := tested{Status: status}
	return env.Print(false, command.Result{Text: "logged in\n" + t.text(nil)})
}

// open opens an address in the browser, if there is one. The person has the address, too.
func open(ctx context.Context, address string) {
	program, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	_ = exec.CommandContext(ctx, program, args...).Run()
}

// callbackPath is the path to which the browser comes back.
const callbackPath = "/callback"

// callback waits for a browser.
type callback struct {
	server *http.Server
	got    chan url.Values
	done   chan struct{}
}

func newCallback(l net.Listener) *callback {
	c := &callback{got: make(chan url.Values, 1), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		select {
		case c.got <- r.URL.Query():
		default: // a second visit
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("Tenon has your answer. You can close this page.\n"))
	})
	c.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(c.done)
		_ = c.server.Serve(l)
	}()
	return c
}

func (c *callback) wait(ctx context.Context) (url.Values, error) {
	select {
	case v := <-c.got:
		return v, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close waits a moment for the last page to reach the browser.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
	<-c.done
}

func newLogout(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Delete the login at an MCP server",
		Args:  command.ExactArgs("the name of a server"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := placeOf(env, "")
			if err != nil {
				return err
			}
			err = p.setup.Keys.Delete(c.Context(), app.LoginName(args[0]), "")
			if errors.Is(err, keys.ErrNotFound) {
				return fmt.Errorf("there is no login at the MCP server %q", args[0])
			}
			if err != nil {
				return err
			}
			return env.Print(false, command.Result{Text: fmt.Sprintf("deleted the login at %s\n", args[0])})
		},
		ValidArgsFunction: complete(env),
	}
}
