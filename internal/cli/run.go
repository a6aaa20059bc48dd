package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
)

// runOptions is the flags of tenon run.
type runOptions struct {
	model, output string
	dir           string // "" is where the program was started, or where the session was
	resume        bool   // the last session of the directory
	session       string // the session whose ID begins so
	yes           bool   // short for the mode yolo
	rules         ruleFlags
	limits        agent.Limits
	system        string
	thinking      llm.Thinks
	schema        string // file
	noSkills      bool

	// Of commands that run a prompt of their own.
	noInput      bool   // standard input is not looked at
	offline      string // the prompt for the offline model, which follows plain instructions alone; empty: the same
	after        func(ctx context.Context, j *job, t *target) error
	quiet, debug bool
}

// The output formats.
const (
	outputText   = "text"
	outputJSON   = "json"
	outputStream = "stream-json"
)

func (p *program) run() *cobra.Command {
	o := runOptions{output: outputText, system: app.System}
	c := &cobra.Command{
		Use:   "run [flags] PROMPT...",
		Short: "Do one job and leave",
		Long: `Do one job and leave. The prompt is the arguments, joined by spaces; standard input is data for it, or
without arguments the prompt itself.
The answer goes to standard output, on a terminal as it comes, and everything else to standard error.

Nobody is asked during a run: what would be asked about is denied. In the mode ask, the default, the model can look and run commands that
only look; --mode edits lets it change files of the directory, --mode auto also run what the sandbox confines, --allow what a rule says,
--yes everything. tenon undo takes back what a run changed.

With --continue or --session and without a prompt, a run that was interrupted goes on where it stood. A session that goes on keeps its
model, unless --model or TENON_MODEL names another.

Exit codes: 0 done, 1 error, 2 usage, 3 a limit was reached,
4 denials ended the run, or every call of the last turn that made any was denied,
130 interrupted.`,
		Example: `  tenon run "describe this project"
  tenon run --mode auto "make the tests pass" --max-turns 30
  tenon run --mode edits --allow 'shell(go test *)' "rename the type Foo to Bar"
  git diff | tenon run "write a commit message" --quiet
  tenon run --continue "now do the same for the other package"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return p.execute(c, o, args) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&o.model, "model", "m", "", "the model to ask, as `provider/model[@variant]` or the name of a pool; see tenon models")
	f.Var(thinkingFlag(&o.thinking), "thinking", "how much the model may reason: off, minimal, low, medium or high")
	f.Var(choiceFlag{&o.output, []string{outputText, outputJSON, outputStream}, "FORMAT"}, "output", "text, json (one object at the end) or stream-json (one event per line)")
	f.StringVarP(&o.dir, "dir", "C", "", "work in this `directory`; default where you are, or where the session was")
	f.BoolVar(&o.resume, "continue", false, "go on with the last session of the directory")
	f.StringVar(&o.session, "session", "", "go on with the session whose `ID` begins so")
	o.rules.flags(c)
	f.BoolVar(&o.yes, "yes", false, "short for --mode yolo: allow everything, outside any sandbox")
	f.Var(intLimit(&o.limits.Turns), "max-turns", `stop after so many answers, or "none"; default 50`)
	f.Var(int64Limit(&o.limits.Tokens), "max-tokens", `stop after so many tokens, or "none"; default 1000000`)
	f.Var(costLimit(&o.limits.Cost), "max-cost", "stop when the run has cost so much; default none")
	f.Var(timeLimit(&o.limits.Time), "timeout", `stop after so long, or "none"; default 10m`)
	f.StringVar(&o.system, "system", app.System, "system prompt instead of the built-in one, as `text`")
	f.Lookup("system").DefValue = ""
	f.StringVar(&o.schema, "schema", "", "answer with JSON that satisfies the JSON Schema in `file`")
	f.BoolVar(&o.noSkills, "disable-skills", false, "let the model load no skills")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show the final answer and errors only")
	f.BoolVar(&o.debug, "debug", false, "show every event, and the state at the end, on standard error")
	p.completeSessions(c, "session")
	completeWith(c, "output", cobra.FixedCompletions([]string{outputText, outputJSON, outputStream}, cobra.ShellCompDirectiveNoFileComp))
	completeWith(c, "dir", directories)
	completeWith(c, "thinking", cobra.FixedCompletions([]string{"off", "minimal", "low", "medium", "high"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// execute runs the command, and makes sure that every output format tells how it ended.
func (p *program) execute(c *cobra.Command, o runOptions, args []string) error {
	switch named := c.Flags().Changed("session"); {
	case named && o.resume:
		return usagef(c, "--continue and --session exclude each other")
	case named && o.session == "": // of an empty variable in a script; a new session is not what it wants
		return usagef(c, "--session names no session")
	}
	if o.yes {
		if o.rules.mode != "" && o.rules.mode != permission.Yolo {
			return usagef(c, "--yes means --mode yolo, and --mode says %s", o.rules.mode)
		}
		o.rules.mode = permission.Yolo
	}
	s := p.screen(o)
	defer s.close()
	j := &job{program: p, command: c, options: o, screen: s, view: p.viewOf(o, s), report: newReport()}

	ctx, stop := p.interruptible(c.Context(),
		func() { s.note("interrupted: finishing the journal; once more to leave at once\n") },
		func() {
			s.close()
			if ag := j.agent.Load(); ag != nil {
				ag.Kill() // what is deaf to the request to end must not outlive the program
			}
			if p.env.Exit != nil {
				p.env.Exit(exitInterrupted)
			}
		})
	defer stop()
	err := j.do(ctx, args)
	return j.finish(ctx, err)
}

func (p *program) screen(o runOptions) *screen {
	s := &screen{out: p.env.Stdout, err: p.env.Stderr}
	if o.output == outputText && !o.quiet && !o.debug && p.env.Getenv("TERM") != "dumb" {
		s.width = width(p.env.Stderr)
	}
	s.shareLine = s.width != nil && width(p.env.Stdout) != nil
	return s
}

func (p *program) viewOf(o runOptions, s *screen) view {
	switch o.output {
	case outputJSON:
		return jsonView{p.env.Stdout}
	case outputStream:
		return streamView{p.env.Stdout}
	default:
		return &textView{
			screen: s, quiet: o.quiet, atEnd: o.quiet || o.schema != "", safe: width(p.env.Stdout) != nil,
			palette: paletteFor(p.env.Stderr, p.env.Getenv),
		}
	}
}

// job is one tenon run.
type job struct {
	*program
	command *cobra.Command
	options runOptions
	screen  *screen
	view    view
	report  *report
	setup   *app.Setup
	agent   atomic.Pointer[app.Agent] // for the second interrupt, once there is one
	wrote   error                     // what a write to standard output failed with

	prompted bool // there is something new to do
}

// tell says something that is no part of the answer.
func (j *job) tell(text string) { j.screen.note(harmless(text) + "\n") }

// do is the job, from the prompt to the end of the run. What came of it is in the report.
func (j *job) do(ctx context.Context, args []string) error {
	prompt, data := strings.Join(args, " "), ""
	if !j.options.noInput {
		var err error
		if prompt, data, err = j.prompt(ctx, args, j.tell); err != nil {
			return err
		}
	}
	if prompt == "" && !j.options.resume && j.options.session == "" {
		return usagef(j.command, "there is no prompt: say what to do, as arguments or on standard input")
	}
	schema, err := j.readSchema()
	if err != nil {
		return err
	}
	j.prompted = prompt != ""
	t, model, done, err := j.ready(ctx, schema)
	if err != nil {
		return err
	}
	defer done()
	if o := j.options.offline; o != "" && model.Client.Model().Ref() == offline.New().Model().Ref() {
		prompt = o
	}
	if err := j.drive(ctx, t, model, schema.instruct(j.setup.Secrets.Redact(prompt)), j.setup.Secrets.Redact(data)); err != nil {
		return err
	}
	if j.options.after != nil {
		return j.options.after(ctx, j, t)
	}
	return j.satisfy(ctx, t, schema)
}

// ready chooses the model and opens the session. done lets go of all of it.
func (j *job) ready(ctx context.Context, schema *answerSchema) (t *target, m app.Model, done func(), err error) {
	version := buildOf(j.env.Version).Version
	before := j.before(ctx, version)
	if j.setup, err = app.NewSetup(j.env.Getenv, projectOf(cmp.Or(j.options.dir, before.Dir)), version); err != nil {
		return nil, m, nil, err
	}
	if rotate := j.setup.Config.Sessions.RotateAfter; !j.options.resume || rotate <= 0 || time.Since(before.Updated) <= rotate {
		j.setup.GoOn(before.Model)
	}
	j.setup.Look(ctx, j.options.model)
	choose := sync.OnceValues(j.model)
	if !j.setup.Looking() {
		if _, err := choose(); err != nil {
			return nil, m, nil, err // before there is a trace of the command
		}
	}
	a, err := app.Open(j.env.Getenv, version)
	if err != nil {
		return nil, m, nil, err
	}
	done = func() { _ = a.Close() } // all of it is durable: nothing is lost by a failure here
	if m, err = choose(); err == nil {
		t, err = j.open(ctx, a, m, schema)
	}
	if err != nil {
		done()
		return nil, m, nil, err
	}
	j.agent.Store(t.agent)
	return t, m, func() {
		if taken, ok := errors.AsType[*app.TakenBackError](t.agent.Close()); ok {
			j.tell("! " + oneLine(taken.Error()))
		}
		_ = a.Close()
	}, nil
}

// before is the session that the run is to go on with, as far as that can be said beforehand: its directory is where the search for the
// project's configuration begins, and its model answers. What keeps it from being found is told when the session is opened.
func (j *job) before(ctx context.Context, version string) (found session.Summary) {
	if j.options.session == "" && !j.options.resume {
		return found
	}
	a, err := app.OpenExisting(j.env.Getenv, version)
	if err != nil {
		return found
	}
	defer a.Close()
	if j.options.session != "" {
		found, _ = resolve(ctx, a.Store, j.options.session)
		return found
	}
	dir, err := directory(j.options.dir)
	if err != nil {
		return found
	}
	for s, err := range a.Store.List(ctx, session.Query{Dir: dir}) {
		if err != nil || s.Owner == "" {
			return s
		}
	}
	return found
}

func (j *job) model() (app.Model, error) {
	if j.env.Client != nil {
		return app.Model{Client: llm.Retry(j.env.Client, llm.RetryPolicy{}), Why: "given by the caller"}, nil
	}
	m, err := j.setup.Choose(j.options.model)
	if app.IsUnknownModel(err) {
		return m, &usageError{j.command.CommandPath(), err}
	}
	for _, w := range m.Warnings {
		j.tell(w)
	}
	return m, err
}

// drive runs the agent and shows what happens.
func (j *job) drive(ctx context.Context, t *target, m app.Model, prompt, data string) error {
	id := t.agent.Session()
	h := header{
		Session: id, Resumed: t.resumed, Dir: t.dir, Model: m.Client.Model().Ref(), Why: m.Why,
		Tenon: buildOf(j.env.Version).Version,
	}
	j.report.Session, j.report.Model = h.Session, h.Model
	if !j.options.quiet {
		j.tell(h.words())
		j.warn(j.setup.Config)
	}
	events, err := j.events(ctx, t, prompt, data)
	if err != nil {
		return err
	}
	if j.wrote = j.view.begin(h); j.wrote != nil {
		return j.wrote
	}
	err = j.follow(events)
	if j.options.debug {
		j.debugState(t.agent.Path())
	}
	return err
}

// warn tells what of the configuration has no effect.
func (j *job) warn(c *config.Config) {
	for _, w := range c.Warnings {
		j.tell("! " + oneLine(w))
	}
	if c.Inert != "" {
		j.tell("! " + oneLine(inertNote(c)))
	}
}

// events is the run: new input, or where the session stands when there is none.
func (j *job) events(ctx context.Context, t *target, prompt, data string) (iter.Seq2[session.Event, error], error) {
	if prompt != "" {
		return t.agent.Run(ctx, app.Input(prompt, data)), nil
	}
	switch err := session.Continuable(ctx, t.agent.Path()); {
	case errors.Is(err, session.ErrAnswered), errors.Is(err, session.ErrNoMessage):
		return nil, usagef(j.command, "session %s has nothing left to do: give a prompt", t.agent.Session())
	case err != nil:
		return nil, err
	}
	return t.agent.Continue(ctx, agent.Continuation{}), nil
}

// follow shows the events of the run. It returns the error that ended the run, or that of a write: then the run is
// cancelled by leaving it, which also finishes the journal.
func (j *job) follow(events iter.Seq2[session.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		j.report.event(e)
		if j.options.debug {
			j.debugEvent(e)
		}
		if j.wrote = j.view.event(e); j.wrote != nil {
			return j.wrote
		}
	}
	return nil
}
