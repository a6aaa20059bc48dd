// Package run contains the commands that drive a conversation: tenon run, tenon init, tenon sessions resume and tenon sessions compact.
package run

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/cli/models"
	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	sessionview "github.com/tenon-agent/tenon/session/view"
)

// runOptions are the flags of tenon run.
type runOptions struct {
	model, output string
	role          string
	dir           string // "": the working directory, or that of the session
	resume        bool   // continue the last session of the directory
	session       string // ID or unique ID prefix
	takeOver      bool
	yes           bool // short for the mode yolo
	rules         command.RuleFlags
	limits        agent.Limits
	system        string
	thinking      llm.Thinks
	schema        string // file
	noSkills      bool
	parallel      parallelOptions
	loop          bool     // the prompt is a goal
	checks        []string // commands that verify it
	rounds        int      // of its limits

	// Of commands that run a prompt of their own.
	files        []string
	record       string
	replay       string
	noInput      bool   // do not read standard input
	offline      string // the prompt for the offline model, which follows only simple instructions; empty: the same
	after        func(ctx context.Context, j *job) error
	quiet, debug bool
}

// The output formats.
const (
	outputText   = "text"
	outputJSON   = "json"
	outputStream = "stream-json"
)

func New(env *command.Env) *cobra.Command {
	o := runOptions{output: outputText}
	c := &cobra.Command{
		Use:     "run [flags] PROMPT...",
		Aliases: []string{"exec"},
		Short:   "Run one prompt to its end",
		Long: `Run one prompt to its end. The arguments are the prompt. Standard input is data for it,
or the prompt itself if there are no arguments. The answer goes to standard output;
everything else goes to standard error.

A run is not interactive: Tenon denies a call that needs approval. In mode ask, the
default, the model can read files and run commands that only read. --mode edits also
lets it change files in the directory, --mode auto also lets it run commands in the
sandbox, --allow adds rules, and --yes allows everything. 'tenon undo' undoes the
changes of a run.

With --continue or --session and without a prompt, Tenon resumes an interrupted run. A
session keeps its model, unless --model or TENON_MODEL names another one.

With --loop the prompt is a goal. Whenever the model stops, Tenon runs the commands of
--check. If one fails, the model continues. An open goal continues with the session.

Exit codes: 0 done, 1 error, 2 usage, 3 a limit was reached,
4 denials ended the run, or Tenon denied every call of the last turn with calls,
5 the goal of --loop is blocked, 130 interrupted.`,
		Example: `  tenon run "describe this project"
  tenon run --mode auto "make the tests pass" --max-turns 30
  tenon run --mode auto --loop --check "go test ./..." "fix the failing tests"
  tenon run --mode edits --allow 'shell(go test *)' "rename the type Foo to Bar"
  git diff | tenon run "write a commit message" --quiet
  tenon run --continue "now do the same for the other package"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return execute(env, c, o, args) },
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVarP(&o.model, "model", "m", "", "`MODEL`: provider/model[@variant] or a pool; see tenon models")
	env.RoleFlag(c, &o.role)
	f.Var(thinkingFlag(&o.thinking), "thinking", "off, minimal, low, medium, high, xhigh, max or default")
	f.Var(command.Choice(&o.output, []string{outputText, outputJSON, outputStream}, "FORMAT"), "output", "text, json (at the end) or stream-json (event per line)")
	f.StringVarP(&o.dir, "dir", "C", "", "work in this `DIR`; default: here, or the session's")
	f.StringArrayVar(&o.files, "file", nil, "attach this `FILE`: text, an image or a PDF (repeatable)")
	f.BoolVar(&o.resume, "continue", false, "continue the most recent session of the directory")
	f.StringVar(&o.session, "session", "", "continue the session with this `ID` or unique ID prefix")
	f.BoolVar(&o.takeOver, "take-over", false, "with --session: take it from the process that has it open")
	o.rules.Flags(c)
	f.BoolVar(&o.yes, "yes", false, "same as --mode yolo: allow everything, without a sandbox")
	f.BoolVar(&o.loop, "loop", false, "pursue the prompt as a goal until it is reached")
	f.StringArrayVar(&o.checks, "check", nil, "with --loop: a `COMMAND` that must exit with 0 (repeatable)")
	f.Var(command.IntLimit(&o.rounds), "rounds", "with --loop: largest number of rounds; default 50")
	f.Var(command.IntLimit(&o.limits.Turns), "max-turns", `largest number of turns; default "none"`)
	f.Var(command.Int64Limit(&o.limits.Tokens), "max-tokens", `largest number of tokens; default "none"`)
	f.Var(command.CostLimit(&o.limits.Cost), "max-cost", `largest cost in US dollars, or "none"; default 20`)
	f.Var(command.TimeLimit(&o.limits.Time), "timeout", `longest duration; default "none"`)
	f.StringVar(&o.system, "system", "", "replace the built-in system prompt with this `TEXT`")
	f.StringVar(&o.schema, "schema", "", "require an answer for the JSON Schema in this `FILE`")
	f.BoolVar(&o.noSkills, "disable-skills", false, "disable skills")
	o.parallel.flags(f)
	f.StringVar(&o.record, "record", "", "write the requests and answers of the model to this new `FILE`")
	f.StringVar(&o.replay, "replay", "", "answer from a `FILE` of --record instead of a model")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only the answer and errors")
	f.BoolVar(&o.debug, "debug", false, "print every event and the final state to standard error")
	env.CompleteSessions(c, "session")
	command.CompleteWith(c, "output", cobra.FixedCompletions([]string{outputText, outputJSON, outputStream}, cobra.ShellCompDirectiveNoFileComp))
	command.CompleteWith(c, "dir", command.Directories)
	command.CompleteWith(c, "model", models.Complete(env))
	command.CompleteWith(c, "thinking", cobra.FixedCompletions(thinkingLevels(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// execute runs the command. In every output format the result has the end of the run.
func execute(env *command.Env, c *cobra.Command, o runOptions, args []string) error {
	switch named := c.Flags().Changed("session"); {
	case named && o.resume:
		return command.Usagef(c, "--continue and --session exclude each other")
	case named && o.session == "": // an empty variable in a script does not mean a new session
		return command.Usagef(c, "--session has no ID")
	case o.takeOver && !named:
		return command.Usagef(c, "--take-over needs --session")
	}
	if err := o.parallel.check(c, o); err != nil {
		return err
	}
	if o.parallel.kept() != "" {
		return kept(env, c, o)
	}
	if o.yes {
		if o.rules.Mode != "" && o.rules.Mode != permission.Yolo {
			return command.Usagef(c, "--yes is --mode yolo, which contradicts --mode %s", o.rules.Mode)
		}
		o.rules.Mode = permission.Yolo
	}
	s := newScreen(env, o)
	defer s.Close()
	j := &job{env: env, command: c, options: o, screen: s, view: viewOf(env, o, s), report: newReport()}

	ctx, stop := env.Interruptible(c.Context(),
		func() { s.Note("interrupted: finishing the journal; interrupt again to exit at once\n") },
		func() {
			s.Close()
			if o := j.opened.Load(); o != nil {
				o.Kill() // a command that ignores the cancellation must not outlive the program
			}
			if env.Exit != nil {
				env.Exit(command.ExitInterrupted)
			}
		})
	defer stop()
	err := j.do(ctx, args)
	return j.finish(ctx, err)
}

func newScreen(env *command.Env, o runOptions) *term.Screen {
	s := &term.Screen{Out: env.Stdout, Err: env.Stderr}
	if o.output == outputText && !o.quiet && !o.debug && env.Getenv("TERM") != "dumb" {
		s.Width = term.Width(env.Stderr)
	}
	s.ShareLine = s.Width != nil && term.Width(env.Stdout) != nil
	return s
}

func viewOf(env *command.Env, o runOptions, s *term.Screen) view {
	switch o.output {
	case outputJSON:
		return jsonView{env.Stdout}
	case outputStream:
		return streamView{env.Stdout}
	default:
		v := &textView{
			screen: s, quiet: o.quiet, atEnd: o.quiet || o.schema != "" || o.parallel.on(), safe: term.Width(env.Stdout) != nil,
			palette: term.PaletteFor(env.Stderr, env.Getenv),
		}
		if v.safe && o.schema == "" && env.Getenv("TERM") != "dumb" {
			v.blocks = markdown.NewStream(term.Width(env.Stdout), markdown.Terminal(term.PaletteFor(env.Stdout, env.Getenv)))
		}
		return v
	}
}

type job struct {
	env     *command.Env
	command *cobra.Command
	options runOptions
	screen  *term.Screen
	view    view
	report  *report
	pursues bool                        // the session has an open goal
	wrote   error                       // of a write to standard output
	begun   bool                        // the view has begun
	replay  llm.Client                  // of --replay
	record  func(llm.Client) llm.Client // of --record
	opened  atomic.Pointer[app.Opened]  // for the second interrupt

	// Of the open conversation.
	conversation conversation.Conversation
	header       header
	advice       func(*llm.Error) string
}

// note writes a line for people that is not part of the answer.
func (j *job) note(text string) { j.screen.Note(term.Harmless(text) + "\n") }

// do does the work from the prompt to the end of the run. The report receives the result.
func (j *job) do(ctx context.Context, args []string) error {
	if err := j.options.checkLoop(j); err != nil {
		return err
	}
	prompt, data := strings.Join(args, " "), ""
	if !j.options.noInput {
		var err error
		if prompt, data, err = readPrompt(j.env, ctx, args, j.note); err != nil {
			return err
		}
	}
	if prompt == "" && !j.options.resume && j.options.session == "" {
		return command.Usagef(j.command, "there is no prompt: pass one as arguments or on standard input")
	}
	attached, err := attach(ctx, j.options.files)
	if err != nil {
		return err
	}
	schema, err := j.readSchema()
	if err != nil {
		return err
	}
	closed, err := j.tape()
	if err != nil {
		return err
	}
	defer closed()
	done, err := j.begin(ctx, schema, prompt != "")
	if err != nil {
		return err
	}
	defer done()
	if !j.options.quiet {
		j.note(j.header.words())
	}
	if o := j.options.offline; o != "" && j.header.Model == offline.New().Model().Ref() {
		prompt = o
	}
	var message llm.Message // empty: continue the session
	if prompt != "" {
		message = conversation.Message(schema.instruct(prompt), data)
		message.Content = append(message.Content, attached...)
	}
	if j.options.parallel.on() {
		err = j.parallel(ctx, message)
	} else if err = j.pursue(ctx, prompt); err == nil {
		err = j.run(ctx, message)
		j.pursued(ctx)
	}
	if j.options.debug {
		state, problem := j.conversation.State(context.WithoutCancel(ctx))
		j.debug("state", state, problem)
	}
	if err != nil {
		return err
	}
	if j.options.after != nil {
		return j.options.after(ctx, j)
	}
	return j.satisfy(ctx, schema)
}

// begin opens the conversation of the flags. done closes it. The run asks no questions, because it must not wait.
func (j *job) begin(ctx context.Context, schema *answerSchema, prompted bool) (done func(), err error) {
	o := j.options
	if err := o.rules.Check(j.command); err != nil {
		return nil, err
	}
	version := command.BuildOf(j.env.Version).Version
	opening := app.Opening{
		Wait: true, Waiting: j.env.Waiting, Getenv: j.env.Getenv, Version: version, Owner: "tenon run", Share: true,
		Which: conversation.Which{Dir: o.dir, ID: o.session, Last: o.resume},
		Again: !prompted, TakeOver: o.takeOver, Model: o.model, Role: o.role, Client: cmp.Or(j.replay, j.env.Client), Wrap: j.record, System: o.system,
		Settings: llm.Settings{Thinking: o.thinking}, Limits: o.limits, Permissions: o.rules.Permissions, NoSkills: o.noSkills,
	}
	if schema != nil {
		opening.Settings.Schema = schema.raw
	}
	opened, err := app.OpenConversation(ctx, opening)
	if setup := opened.Setup; setup != nil {
		j.advice = func(e *llm.Error) string { return models.Advice(setup, e.Model, e) }
	}
	if err == nil {
		j.opened.Store(opened)
		j.conversation = opened.Conversation
		j.header = header{
			Session: opened.Conversation.Session(), Resumed: opened.Resumed, Dir: opened.Dir,
			Model: opened.Model.Client.Model().Ref(), Why: opened.Model.Why, Tenon: version,
		}
		if o.replay != "" {
			j.header.Why = "replayed from " + o.replay
		}
		j.report.Session, j.report.Model, j.report.dir = j.header.Session, j.header.Model, j.header.Dir
	}
	if !o.quiet || err != nil {
		for _, w := range opened.Warnings {
			j.note("! " + term.OneLine(w.Text))
		}
	}
	if err != nil {
		if app.IsUnknown(err) {
			err = command.AsUsage(j.command, err)
		}
		return nil, command.Locked(err)
	}
	return func() {
		if w, ok := errors.AsType[*conversation.Warning](j.conversation.Close()); ok { // the journal has everything else
			j.note("! " + term.OneLine(w.Text))
		}
	}, nil
}

// again is the prompt of a person who continues a session with further permissions and without a prompt, after denials ended the last run.
const again = "I have given you further permissions. Make the denied calls that are still needed, and complete the task."

// permitsMore reports whether the flags of the person give permissions.
func (j *job) permitsMore() bool {
	p := j.options.rules.Permissions
	return p.Mode != "" || len(p.Allow) > 0 || len(p.Network) > 0
}

// denials reports whether calls of the last run were denied, as far as the newest entries show, and returns a prompt that makes them again. The
// offline model gets the prompt of that run.
func (j *job) denials(ctx context.Context) (prompt string, denied bool) {
	const most = 500
	state, err := j.conversation.State(ctx)
	if err != nil {
		return "", false
	}
	prompt = again
	for e, err := range j.conversation.Follow(ctx, max(state.Seq-most, 0)) {
		switch b := e.Body.(type) {
		case session.RunStarted:
			denied = false
		case session.Decision:
			denied = denied || b.Verdict == "deny"
		case session.Message:
			if b.Speaker.Kind == session.SpeakerPerson && j.header.Model == offline.New().Model().Ref() {
				prompt = b.Text()
			}
		}
		if err != nil || e.Seq >= state.Seq {
			break
		}
	}
	return prompt, denied
}

// run shows the run of a message to its end. It returns the error that ended the run, or that of a write: then closing the conversation
// aborts the run and finishes its journal.
func (j *job) run(ctx context.Context, m llm.Message) error {
	for e, err := range j.conversation.Run(ctx, conversation.Prompt{Message: m}) {
		if errors.Is(err, sessionview.ErrAnswered) || errors.Is(err, sessionview.ErrNoMessage) {
			if len(m.Content) == 0 && j.permitsMore() {
				if prompt, denied := j.denials(ctx); denied {
					return j.run(ctx, conversation.Message(prompt, ""))
				}
			}
			if prompt, open := j.onward(ctx); open && len(m.Content) == 0 {
				return j.run(ctx, conversation.Message(prompt, ""))
			}
			return command.Usagef(j.command, "session %s has nothing left to do: give a prompt", j.header.Session)
		}
		if !j.begun {
			j.begun = true
			if j.wrote = j.view.begin(j.header); j.wrote != nil {
				return j.wrote
			}
		}
		if err != nil {
			return err
		}
		j.report.event(e)
		if j.options.debug {
			j.debug("event", e, nil)
		}
		if j.wrote = j.view.event(e); j.wrote != nil {
			return j.wrote
		}
	}
	return nil
}
