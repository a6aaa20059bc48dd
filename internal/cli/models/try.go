package models

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/transcript"
)

// The request of tenon models test. Models that always think need tokens for it.
const (
	trialPrompt = "Reply with the one word: ready"
	trialTokens = 1024
)

func newTest(env *command.Env) *cobra.Command {
	var asJSON, retry bool
	c := &cobra.Command{
		Use:   "test [MODEL...]",
		Short: "Test models with one short request",
		Long: `Send one short request to a model. Show the duration, the cost, and the rate limits that
the provider reports. MODEL is a reference provider/model[@variant], also of a model
that no catalog lists, or the name of a pool, to test all of its models. The default is
the model that a run would use.

This is a real request and costs a fraction of a cent. Tenon sends it once, unless
--retry is set. Keys of the provider that rest are asked again.

Exit codes: 0 all models answer, 1 a model does not, 2 usage, 130 interrupted.`,
		Example: `  tenon models test
  tenon models test openai/gpt-6.2-sol@high ollama/qwen3
  tenon models test fast --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := env.SetUp("")
			if err != nil {
				return err
			}
			return Test(env, c, s, args, asJSON, retry)
		},
		ValidArgsFunction: Complete(env),
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&retry, "retry", false, "retry and try further keys, as a run does")
	f.BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return c
}

// Trial is the outcome of a test request, and its JSON.
type Trial struct {
	Ref        string            `json:"ref"`
	OK         bool              `json:"ok"`
	Answer     string            `json:"answer,omitzero"`
	Model      string            `json:"model,omitzero"`       // that answered
	FirstByte  float64           `json:"first_byte,omitzero"`  // seconds until the first byte of an answer
	FirstToken float64           `json:"first_token,omitzero"` // seconds until its first word or thought
	Seconds    float64           `json:"seconds"`
	Usage      command.UsageJSON `json:"usage"`
	Cost       float64           `json:"cost"` // US dollars
	Limits     *llm.RateLimits   `json:"limits,omitempty"`
	RequestID  string            `json:"request_id,omitzero"`
	Error      *trialError       `json:"error,omitempty"`
}

// trialError is the reason why a model did not answer.
type trialError struct {
	*llm.Error
	Advice string `json:"advice,omitzero"`
}

// Test sends a request to each of the named models, one after the other.
func Test(env *command.Env, c *cobra.Command, s *app.Setup, names []string, asJSON, retry bool) error {
	refs, err := trialRefs(env, c, s, names)
	if err != nil {
		return err
	}
	ctx, stop := env.Interruptible(c.Context(), func() {}, func() {
		if env.Exit != nil {
			env.Exit(command.ExitInterrupted)
		}
	})
	defer stop()
	screen := &term.Screen{Out: env.Stdout, Err: env.Stderr, Width: term.Width(env.Stderr)}
	defer screen.Close()
	failed := 0
	for _, ref := range refs {
		start := time.Now()
		screen.Status(func(now time.Time) string { return "  asking " + term.OneLine(ref) + term.Elapsed(now.Sub(start)) })
		t, err := tryModel(env, ctx, c, s, ref, retry, func(text string) { screen.Note(s.Secrets.Redact(text)) })
		screen.Status(nil)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			env.Tell("interrupted")
			return command.ExitCode(command.ExitInterrupted)
		case !t.OK:
			failed++
		}
		if err := showTrial(env, t, asJSON); err != nil {
			return err
		}
	}
	if failed > 0 {
		return command.ExitCode(command.ExitError)
	}
	return nil
}

func trialRefs(env *command.Env, c *cobra.Command, s *app.Setup, names []string) ([]string, error) {
	if len(names) == 0 {
		s.Look(c.Context(), "")
		m, err := s.Choose("")
		if app.IsUnknown(err) {
			return nil, command.AsUsage(c, err)
		}
		if err != nil {
			return nil, err
		}
		return []string{m.Client.Model().Ref()}, nil
	}
	var refs []string
	for _, name := range names {
		if pool, ok := s.Config.Pools[name]; ok {
			refs = append(refs, pool...)
		} else {
			refs = append(refs, name)
		}
	}
	return refs, nil
}

// tryModel sends a request to one model. Its error is a usage error; the trial has every other error.
func tryModel(env *command.Env, ctx context.Context, c *cobra.Command, s *app.Setup, ref string, retry bool, tell func(string)) (*Trial, error) {
	t := &Trial{Ref: ref}
	provider, _, _ := strings.Cut(ref, "/")
	s.State.Forget(state.Rest + provider + " ") // the test finds out whether its keys must rest
	choice, err := s.Models.Choose(ref)
	if app.IsUnknown(err) {
		return nil, command.AsUsage(c, err)
	}
	if err != nil {
		t.Error = &trialError{Error: &llm.Error{Kind: llm.KindAuth, Model: ref, Message: err.Error(), Err: err}}
		return t, nil
	}
	start := time.Now()
	t.ask(ctx, choice.Client, retry, tell)
	t.Seconds = time.Since(start).Seconds()
	if t.Error != nil {
		t.Error.Advice = Advice(s, ref, t.Error.Error)
	}
	return t, nil
}

// ask makes the request.
func (t *Trial) ask(ctx context.Context, client llm.Client, retry bool, tell func(string)) {
	start := time.Now()
	since := func(at *float64) {
		if *at == 0 {
			*at = time.Since(start).Seconds()
		}
	}
	req := &llm.Request{Messages: []llm.Message{llm.UserText(trialPrompt)}, Settings: llm.Settings{MaxTokens: trialTokens, Thinking: llm.ThinkProvider}}
	for e, err := range client.Stream(ctx, req) {
		if err != nil {
			t.Error = &trialError{Error: llm.AsError(err)}
			return
		}
		switch e := e.(type) {
		case llm.Waiting:
			if !retry {
				t.Error = &trialError{Error: e.Cause}
				return
			}
			tell(fmt.Sprintf("! attempt %d of %d follows in %s%s\n", e.Attempt, e.Of, transcript.Duration(e.Delay), transcript.Because(e.Cause)))
		case llm.Routed:
			tell("! continuing with the key " + term.OneLine(e.Key) + transcript.Because(e.Cause) + "\n")
		case llm.Reset:
			t.FirstByte, t.FirstToken = 0, 0
		case llm.RateLimits:
			t.Limits = &e
		case llm.TextDelta, llm.ThinkingDelta:
			since(&t.FirstByte)
			since(&t.FirstToken)
		case llm.Done:
			since(&t.FirstByte)
			since(&t.FirstToken)
			u := e.Message.Usage
			t.OK, t.Answer, t.Model, t.RequestID = true, transcript.WithoutIntent(e.Message.Text()), e.Message.Model, e.RequestID
			t.Usage = command.UsageJSON(u)
			t.Cost = client.Model().Price.Cost(u)
		default:
			since(&t.FirstByte)
		}
	}
}

// showTrial prints the outcome of one model.
func showTrial(env *command.Env, t *Trial, asJSON bool) error {
	r := command.Result{JSON: t}
	if t.OK {
		r.Text = t.words(env.Paint())
	} else {
		r.Note = term.PaletteFor(env.Stderr, env.Getenv).Red("✗ "+term.OneLine(t.Ref)) + ": " + term.OneLine(t.Error.words())
		if t.Error.Advice != "" {
			r.Note += "\n  " + term.OneLine(t.Error.Advice)
		}
	}
	return env.Print(asJSON, r)
}

// words is the error without the name of the model.
func (e *trialError) words() string {
	bare := *e.Error
	bare.Model = ""
	return bare.Error()
}

func (t *Trial) words(paint term.Palette) string {
	var b strings.Builder
	answer := term.Fit(term.OneLine(t.Answer), 40)
	if answer == "" {
		answer = "(only thinking)"
	}
	fmt.Fprintf(&b, "%s %s: %s\n", paint.Green("✓"), term.OneLine(t.Ref), answer)
	line := func(name, text string) { fmt.Fprintf(&b, "  %s %s\n", paint.Dim(fmt.Sprintf("%-7s", name)), text) }
	if t.Model != "" && t.Model != t.Ref {
		line("model", term.OneLine(t.Model))
	}
	at := func(x float64) string { return transcript.Duration(time.Duration(x * float64(time.Second))) }
	line("time", fmt.Sprintf("%s, first byte after %s, first token after %s", at(t.Seconds), at(t.FirstByte), at(t.FirstToken)))
	u := t.Usage
	line("tokens", fmt.Sprintf("%d in, %d cached, %d out, %d of reasoning", u.Input+u.CacheWrite, u.CacheRead, u.Output, u.Reasoning))
	if t.Cost > 0 {
		line("cost", fmt.Sprintf("$%.6f", t.Cost))
	} else {
		line("cost", "unknown, or free")
	}
	if text := limitWords(t.Limits); text != "" {
		line("limits", text)
	}
	if t.RequestID != "" {
		line("request", term.OneLine(t.RequestID))
	}
	return b.String()
}

// limitWords returns the rest of a provider's limits.
func limitWords(l *llm.RateLimits) string {
	if l == nil {
		return ""
	}
	var parts []string
	for _, q := range []struct {
		name string
		llm.Quota
	}{{"requests", l.Requests}, {"tokens", l.Tokens}, {"tokens in", l.InputTokens}, {"tokens out", l.OutputTokens}} {
		if q.Limit > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s left", q.Remaining, q.Limit, q.name))
		}
	}
	return strings.Join(parts, ", ")
}

func onThisMachine(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Advice returns a remedy for an error of a model.
func Advice(s *app.Setup, ref string, e *llm.Error) string {
	name, _, _ := strings.Cut(ref, "/")
	i := slices.IndexFunc(s.Models.Providers(), func(p models.ProviderStatus) bool { return p.Name == name })
	if i < 0 {
		return ""
	}
	p := s.Models.Providers()[i]
	key := "its key"
	if len(p.Keys) > 0 {
		key = "the key " + p.Keys[0]
	}
	where := fmt.Sprintf("the base URL (%s, or providers.%s.base_url)", p.URLVars[0], name)
	switch e.Kind {
	case llm.KindAuth:
		if e.Status == 0 {
			return "" // the message has the remedy
		}
		return fmt.Sprintf("the provider rejected %s; set %s, or run `tenon auth login %s`", key, p.KeyVars[0], name)
	case llm.KindNetwork:
		if onThisMachine(p.BaseURL) {
			return fmt.Sprintf("no server answers at %s; start it, or check %s", p.BaseURL, where)
		}
		return fmt.Sprintf("%s is unreachable; check the network, HTTPS_PROXY, and %s", cmp.Or(p.BaseURL, "its server"), where)
	case llm.KindQuota:
		return fmt.Sprintf("the account of %s has no credit left; check its billing page, or use another provider", key)
	case llm.KindRateLimited:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("too many requests; try again in %s, or use another key or model", transcript.Duration(e.RetryAfter))
		}
		return "too many requests; try again later, or use another key or model"
	case llm.KindOverloaded:
		return "the provider has a problem; try again later, or use another model"
	case llm.KindStalled:
		return fmt.Sprintf("no data came: the server is too slow, or a proxy buffers the answer; providers.%s.timeouts sets the time limit", name)
	case llm.KindProtocol:
		return fmt.Sprintf("the answer does not follow the protocol %s; check %s, and providers.%s.protocol", p.Protocol, where, name)
	case llm.KindInvalidRequest:
		text := fmt.Sprintf("check the name of the model; `tenon models --provider %s` lists known ones", name)
		switch {
		case e.Status == 0:
			return "" // the message has the remedy
		case e.Status == http.StatusBadRequest && e.Message != "" && !strings.Contains(strings.ToLower(e.Message), "model"):
			return fmt.Sprintf("the provider rejected the request; `tenon models test %s` shows what the model supports", ref)
		case e.Status == http.StatusNotFound && p.BaseURL != "":
			return text + "; if the name is right, check " + where
		}
		return text
	case llm.KindRefused:
		return "a filter of the provider declined; use another model"
	default:
		return ""
	}
}
