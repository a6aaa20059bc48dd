package cli

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
	"github.com/tenon-agent/tenon/internal/models"
	"github.com/tenon-agent/tenon/llm"
)

// What a model is asked by tenon models test. Models that reason by themselves need room for it.
const (
	trialPrompt = "Reply with the one word: ready"
	trialTokens = 1024
)

func (p *program) modelsTest() *cobra.Command {
	var asJSON, retry bool
	c := &cobra.Command{
		Use:   "test [MODEL...]",
		Short: "Ask models one short question, and show what it takes",
		Long: `Ask models one short question, and show how long the answer takes, what it costs, and what the provider says of its
limits. A MODEL is a reference provider/model[@variant], also of a model that is in no catalog, or the name of a pool, of
which every model is asked. Without one it is the model that works when no other is named.

This is a real request: it costs a fraction of a cent. It is sent once, unless --retry says to try as often as a run does.

Exit codes: 0 all of them answer, 1 one does not, 2 usage, 130 interrupted.`,
		Example: `  tenon models test
  tenon models test openai/gpt-5.4@high ollama/qwen3
  tenon models test fast --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := p.setUp()
			if err != nil {
				return err
			}
			return p.testModels(c, s, args, asJSON, retry)
		},
		ValidArgsFunction: p.completeModels,
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&retry, "retry", false, "try again and with the next key as a run does, when that may help")
	f.BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	return c
}

// trial is what came of asking a model, and its JSON.
type trial struct {
	Ref        string          `json:"ref"`
	OK         bool            `json:"ok"`
	Answer     string          `json:"answer,omitzero"`
	Model      string          `json:"model,omitzero"`       // that answered
	FirstByte  float64         `json:"first_byte,omitzero"`  // seconds until anything came of an answer
	FirstToken float64         `json:"first_token,omitzero"` // seconds until its first word or thought
	Seconds    float64         `json:"seconds"`
	Usage      usageReport     `json:"usage"`
	Cost       float64         `json:"cost"` // US dollars
	Limits     *llm.RateLimits `json:"limits,omitempty"`
	RequestID  string          `json:"request_id,omitzero"`
	Error      *trialError     `json:"error,omitempty"`
}

// trialError is why a model did not answer.
type trialError struct {
	*llm.Error
	Advice string `json:"advice,omitzero"`
}

// testModels asks the models of the names one after the other.
func (p *program) testModels(c *cobra.Command, s *app.Setup, names []string, asJSON, retry bool) error {
	refs, err := p.trialRefs(c, s, names)
	if err != nil {
		return err
	}
	ctx, stop := p.interruptible(c.Context(), func() {}, func() {
		if p.env.Exit != nil {
			p.env.Exit(exitInterrupted)
		}
	})
	defer stop()
	screen := &screen{out: p.env.Stdout, err: p.env.Stderr, width: width(p.env.Stderr)}
	defer screen.close()
	failed := 0
	for _, ref := range refs {
		start := time.Now()
		screen.status(func(now time.Time) string { return "  asking " + oneLine(ref) + elapsed(now.Sub(start)) })
		t, err := p.try(ctx, c, s, ref, retry, func(text string) { screen.note(s.Secrets.Redact(text)) })
		screen.status(nil)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			p.tell(s, "interrupted\n")
			return exitCode(exitInterrupted)
		case !t.OK:
			failed++
		}
		if err := p.showTrial(s, t, asJSON); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exitCode(exitError)
	}
	return nil
}

// trialRefs returns the references that the names mean.
func (p *program) trialRefs(c *cobra.Command, s *app.Setup, names []string) ([]string, error) {
	if len(names) == 0 {
		s.Look(c.Context(), "")
		m, err := s.Choose("")
		if app.IsUnknownModel(err) {
			return nil, &usageError{c.CommandPath(), err}
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

// try asks one model. The error is one of usage; all else is in the trial.
func (p *program) try(ctx context.Context, c *cobra.Command, s *app.Setup, ref string, retry bool, tell func(string)) (*trial, error) {
	t := &trial{Ref: ref}
	choice, err := s.Models.Choose(ref)
	if app.IsUnknownModel(err) {
		return nil, &usageError{c.CommandPath(), cleaned(s, err)}
	}
	if err != nil {
		t.Error = &trialError{Error: &llm.Error{Kind: llm.KindAuth, Model: ref, Message: err.Error(), Err: err}}
		return t, nil
	}
	start := time.Now()
	t.ask(ctx, choice.Client, retry, tell)
	t.Seconds = time.Since(start).Seconds()
	if t.Error != nil {
		t.Error.Advice = advice(s, ref, t.Error.Error)
	}
	return t, nil
}

// ask makes the request.
func (t *trial) ask(ctx context.Context, client llm.Client, retry bool, tell func(string)) {
	start := time.Now()
	since := func(at *float64, byOther bool) {
		if *at == 0 && byOther {
			*at = time.Since(start).Seconds()
		}
	}
	req := &llm.Request{Messages: []llm.Message{llm.UserText(trialPrompt)}, MaxTokens: trialTokens}
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
			tell(fmt.Sprintf("! attempt %d of %d follows in %s%s\n", e.Attempt, e.Of, seconds(e.Delay), because(e.Cause)))
		case llm.Routed:
			tell("! going on with the key " + oneLine(e.Key) + because(e.Cause) + "\n")
		case llm.Reset:
			t.FirstByte, t.FirstToken = 0, 0
		case llm.RateLimits:
			t.Limits = &e
		case llm.TextDelta, llm.ThinkingDelta:
			since(&t.FirstByte, true)
			since(&t.FirstToken, true)
		case llm.Done:
			since(&t.FirstByte, true)
			since(&t.FirstToken, true)
			u := e.Message.Usage
			t.OK, t.Answer, t.Model, t.RequestID = true, withoutIntent(e.Message.Text()), e.Message.Model, e.RequestID
			t.Usage = usageReport{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning}
			t.Cost = client.Model().Price.Cost(u)
		default:
			since(&t.FirstByte, true)
		}
	}
}

// showTrial writes what came of one model.
func (p *program) showTrial(s *app.Setup, t *trial, asJSON bool) error {
	if asJSON {
		return p.showJSON(s, t)
	}
	if !t.OK {
		paint := paletteFor(p.env.Stderr, p.env.Getenv)
		p.tell(s, paint.red("✗ "+oneLine(t.Ref))+": "+oneLine(t.Error.words())+"\n")
		if t.Error.Advice != "" {
			p.tell(s, "  "+oneLine(t.Error.Advice)+"\n")
		}
		return nil
	}
	return p.show(s, t.words(paletteFor(p.env.Stdout, p.env.Getenv)))
}

// words is the error without the name of the model.
func (e *trialError) words() string {
	bare := *e.Error
	bare.Model = ""
	return bare.Error()
}

// words is what a model that answers is told of, for people.
func (t *trial) words(paint palette) string {
	var b strings.Builder
	answer := fit(oneLine(t.Answer), 40)
	if answer == "" {
		answer = "(nothing but thoughts)"
	}
	fmt.Fprintf(&b, "%s %s: %s\n", paint.green("✓"), oneLine(t.Ref), answer)
	line := func(name, text string) { fmt.Fprintf(&b, "  %s %s\n", paint.dim(fmt.Sprintf("%-7s", name)), text) }
	if t.Model != "" && t.Model != t.Ref {
		line("model", oneLine(t.Model))
	}
	at := func(x float64) string { return seconds(time.Duration(x * float64(time.Second))) }
	line("time", fmt.Sprintf("%s, first byte after %s, first token after %s", at(t.Seconds), at(t.FirstByte), at(t.FirstToken)))
	u := t.Usage
	line("tokens", fmt.Sprintf("%d in, %d cached, %d out, %d of reasoning", u.Input+u.CacheWrite, u.CacheRead, u.Output, u.Reasoning))
	if t.Cost > 0 {
		line("cost", fmt.Sprintf("$%.6f", t.Cost))
	} else {
		line("cost", "not known, or free")
	}
	if text := limitWords(t.Limits); text != "" {
		line("limits", text)
	}
	if t.RequestID != "" {
		line("request", oneLine(t.RequestID))
	}
	return b.String()
}

// limitWords is what is left of a provider's limits.
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

// onThisMachine reports whether a base URL is of a server on this machine.
func onThisMachine(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// advice is what a person can do about an error of a model.
func advice(s *app.Setup, ref string, e *llm.Error) string {
	name, _, _ := strings.Cut(ref, "/")
	i := slices.IndexFunc(s.Models.Providers(), func(p models.Provider) bool { return p.Name == name })
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
			return "" // the message says it
		}
		return fmt.Sprintf("%s was not accepted: set %s, or run `tenon auth login %s`", key, p.KeyVars[0], name)
	case llm.KindNetwork:
		if onThisMachine(p.BaseURL) {
			return fmt.Sprintf("does a server run at %s? Start it, or look at %s", p.BaseURL, where)
		}
		return fmt.Sprintf("%s could not be reached: look at the network, at HTTPS_PROXY, and at %s", cmp.Or(p.BaseURL, "its server"), where)
	case llm.KindQuota:
		return fmt.Sprintf("the account of %s has nothing left: look at its billing page, or use another provider", key)
	case llm.KindRateLimited:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("too many requests: try again in %s, or use another key or model", seconds(e.RetryAfter))
		}
		return "too many requests: try again in a while, or use another key or model"
	case llm.KindOverloaded:
		return "the provider has trouble: try again in a while, or use another model"
	case llm.KindStalled:
		return fmt.Sprintf("nothing came: the server is too slow, or a proxy holds the answer back; providers.%s.timeouts sets how long is waited", name)
	case llm.KindProtocol:
		return fmt.Sprintf("the answer is not what %s speaks: look at %s, and at providers.%s.protocol", p.Protocol, where, name)
	case llm.KindInvalidRequest:
		text := fmt.Sprintf("is the name of the model right? `tenon models --provider %s` lists those that are known", name)
		switch {
		case e.Status == 0:
			return "" // the message says it
		case e.Status == http.StatusNotFound && p.BaseURL != "":
			return text + "; if it is, look at " + where
		}
		return text
	case llm.KindRefused:
		return "a filter of the provider declined: use another model"
	default:
		return ""
	}
}
