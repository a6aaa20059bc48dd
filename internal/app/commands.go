package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/frontmatter"
	"github.com/tenon-agent/tenon/internal/slash"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/team/role"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/mcp"
	"github.com/tenon-agent/tenon/transcript"
)

// CommandSet holds the commands that a prompt may call.
type CommandSet struct {
	Commands []slash.Command // sorted by name, with a command for each skill and for each known prompt of an MCP server
	Inert    []string        // commands of the project that do not count, because its directory is not trusted
	Problems []error         // about unusable files
}

// Commands finds the commands for work in a directory: the person's, and those of the project if its directory is trusted.
func Commands(s *Setup, dir string) (CommandSet, error) {
	var set CommandSet
	var folders []frontmatter.Folder
	for _, name := range s.ownPlaces("commands") {
		folders = append(folders, frontmatter.Folder{Dir: name})
	}
	if project := projectCommands(dir); len(project.Commands)+len(project.Problems) > 0 {
		trusted, err := trusted(s.Dir, dir)
		switch {
		case err != nil:
			return set, err
		case trusted:
			folders = append(folders, commandFolders(dir)...)
		default:
			for _, c := range project.Commands {
				set.Inert = append(set.Inert, c.Name)
			}
		}
	}
	found := slash.Find(folders)
	set.Problems = found.Problems
	skills, err := s.Skills(dir)
	byName := map[string]slash.Command{}
	for _, c := range found.Commands {
		byName[c.Name] = c
	}
	for _, k := range skills.Skills {
		byName[k.Name] = slash.Command{
			Name: k.Name, Description: k.Description, Hint: "[TEXT]", Body: fmt.Sprintf("Load the skill %q and follow it. $ARGUMENTS", k.Name),
		}
	}
	for _, c := range prompts(s) {
		byName[c.Name] = c
	}
	for _, c := range byName {
		set.Commands = append(set.Commands, c)
	}
	slices.SortFunc(set.Commands, func(a, b slash.Command) int { return strings.Compare(a.Name, b.Name) })
	return set, err
}

// Untrusted names what a project has that takes no effect until the person trusts its directory.
func Untrusted(s *Setup, dir string) (all []string, err error) {
	if s.Config.Inert != "" {
		all = append(all, s.Config.Inert)
	}
	commands, err := Commands(s, dir)
	for _, name := range commands.Inert {
		all = append(all, "the command /"+name)
	}
	skills, err2 := s.Skills(dir)
	if skills.Inert > 0 {
		all = append(all, transcript.Count(skills.Inert, "skill"))
	}
	roles, err3 := s.Roles(dir)
	if roles.Inert > 0 {
		all = append(all, transcript.Count(roles.Inert, "role"))
	}
	return all, errors.Join(err, err2, err3)
}

// ProjectRoles finds the roles of the project that contains a directory, trusted or not.
func ProjectRoles(dir string) []role.Role {
	root, places := projectPlaces(dir, "agents")
	var folders []role.Folder
	for _, name := range places {
		folders = append(folders, role.Folder{Dir: name, Within: root})
	}
	return slices.DeleteFunc(role.Find(folders).Roles, func(r role.Role) bool { return r.File == "" })
}

// ProjectCommands finds the commands of the project that contains a directory, trusted or not.
func ProjectCommands(dir string) []slash.Command { return projectCommands(dir).Commands }

func projectCommands(dir string) slash.Found { return slash.Find(commandFolders(dir)) }

func commandFolders(dir string) (out []frontmatter.Folder) {
	root, places := projectPlaces(dir, "commands")
	for _, name := range places {
		out = append(out, frontmatter.Folder{Dir: name, Within: root})
	}
	return out
}

// UntrustedCommandError reports a command of a project whose directory is not trusted.
type UntrustedCommandError struct{ Name string }

func (e *UntrustedCommandError) Error() string {
	return fmt.Sprintf("cannot run /%s: it is a command of this project, whose directory is not trusted; read it, and then run 'tenon trust'", e.Name)
}

// Code returns "command.untrusted".
func (e *UntrustedCommandError) Code() string { return "command.untrusted" }

// CommandError reports a command that cannot run now.
type CommandError struct {
	Name  string
	Cause error
}

func (e *CommandError) Error() string { return fmt.Sprintf("cannot run /%s: %v", e.Name, e.Cause) }

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Cause }

// Code returns "command.failed".
func (e *CommandError) Code() string { return "command.failed" }

var errCommandBusy = errors.New("it runs commands, or chooses a model or tools, which needs an idle session; wait until the run ends")

// expansion makes prompts of the calls of commands. For the run of such a prompt it holds its limit of tools, which reaches the agents that the run
// starts, and its model.
type expansion struct {
	agent  *Agent
	narrow atomic.Pointer[[]permission.Rule] // the rules of the run's command; nil: no limit

	mu     sync.Mutex
	before llm.Client // that answers again after the run; nil: the present one
}

// judge returns the judge of the agent, which is also never wider than its commands: a call that neither mode ask nor a rule of a command allows
// needs approval.
func (x *expansion) judge(of permission.Judge) permission.Judge {
	return judgeFunc(func() permission.Judge {
		judge := of
		for _, rules := range x.limits() {
			p := x.agent.site.policy.Load()
			judge = permission.Meet(judge, p.InMode(narrower(p.Mode(), permission.AskMode)).With(rules...))
		}
		return judge
	})
}

// limits returns the rules of the commands for which the agent works: that of its run, those of the runs of its owners, and those of the run that
// started it, also after that run.
func (x *expansion) limits() [][]permission.Rule {
	all := slices.Clone(x.agent.spec.narrow)
	if now := x.narrow.Load(); now != nil {
		all = append(all, *now)
	}
	if c := x.agent.spec.child; c != nil {
		all = append(all, copied(c.owner.expansion.limits(), c.copy)...)
	}
	return all
}

// hook ends the limits of a command with its run.
func (x *expansion) hook() agent.Hook {
	return agent.Hook{Name: "commands", AfterRun: func(ctx context.Context, _ session.RunEnded) { x.end(context.WithoutCancel(ctx)) }}
}

// end ends the limits of a command.
func (x *expansion) end(ctx context.Context) {
	x.narrow.Store(nil)
	x.mu.Lock()
	before := x.before
	x.before = nil
	x.mu.Unlock()
	if before == nil {
		return
	}
	if err := x.agent.SetClient(ctx, before); err != nil {
		x.agent.Announce(live.Notice{Text: "the model of the command stays: " + err.Error()})
	}
}

// calling calls commands in a conversation.
type calling struct{ *Opened }

// expand is the Expand of the options of a conversation.
func (o calling) expand(ctx context.Context, m llm.Message, run func(ctx context.Context, line string) (string, error)) (llm.Message, error) {
	var prompt string
	if t, ok := firstText(m); ok {
		prompt = t.Text
	}
	name, arguments, ok := slash.Named(prompt)
	if !ok {
		return m, nil
	}
	if strings.HasPrefix(name, mcp.Prefix) {
		content, err := o.agent.mcp.expand(ctx, name, arguments)
		if err != nil {
			return m, &CommandError{name, err}
		}
		m.Content = append(content, m.Content[1:]...)
		return m, nil
	}
	set, err := Commands(o.Setup, o.Dir) // as they are now
	if err != nil {
		return m, err
	}
	i := slices.IndexFunc(set.Commands, func(c slash.Command) bool { return c.Name == name })
	switch {
	case i < 0 && slices.Contains(set.Inert, name):
		return m, &UntrustedCommandError{name}
	case i < 0:
		return m, nil
	}
	text, attached, err := o.called(ctx, set.Commands[i], arguments, run)
	if err != nil {
		return m, &CommandError{name, err}
	}
	m.Content = slices.Clone(m.Content)
	m.Content[0] = llm.Text{Text: text}
	m.Content = append(m.Content, attached...)
	return m, nil
}

func firstText(m llm.Message) (llm.Text, bool) {
	if len(m.Content) == 0 {
		return llm.Text{}, false
	}
	t, ok := m.Content[0].(llm.Text)
	return t, ok
}

// called runs the command lines of a command, and returns its prompt with its files.
func (o calling) called(
	ctx context.Context, c slash.Command, arguments string, run func(ctx context.Context, line string) (string, error),
) (text string, attached llm.Content, err error) {
	parts := c.Expand(arguments)
	runs := slices.ContainsFunc(parts, func(p slash.Part) bool { return p.Kind == slash.Shell })
	if (runs || c.Model != "" || len(c.Tools) > 0) && o.agent.Requests().Run != "" {
		return "", nil, errCommandBusy
	}
	rules := o.rules(c)
	var body strings.Builder
	for _, p := range parts {
		switch p.Kind {
		case slash.Shell:
			said, err := run(ctx, p.Text)
			if err != nil {
				if errors.Is(err, agent.ErrBusy) {
					err = errCommandBusy
				}
				return "", nil, fmt.Errorf("its command line %s: %w", p.Text, err)
			}
			body.WriteString(said)
		case slash.File:
			content, err := o.mentioned(ctx, p.Text)
			if err != nil {
				return "", nil, err
			}
			attached = append(attached, content...)
			body.WriteString("@" + p.Text)
		default:
			body.WriteString(p.Text)
		}
	}
	if err := o.choosing(ctx, c); err != nil {
		return "", nil, err
	}
	if len(c.Tools) > 0 {
		o.agent.expansion.narrow.Store(&rules)
	}
	text = body.String()
	if c.File != "" && o.agent.client().Model().Ref() != offline.New().Model().Ref() { // which follows only simple instructions
		text = strings.TrimSpace("/"+c.Name+" "+arguments) + fmt.Sprintf("\n\n<command file=%q>\n%s\n</command>", o.shown(c.File), strings.ReplaceAll(text, "</command", "< /command"))
	}
	return text, attached, nil
}

// shown is a file as the model sees it.
func (o calling) shown(name string) string {
	if rest, ok := strings.CutPrefix(name, o.Dir+string(filepath.Separator)); ok {
		return filepath.ToSlash(rest)
	}
	return name
}

// mentioned returns the contents of a file that the text of a command mentions, if the policy allows reading it without a question. Otherwise it
// stays a mention: the model may ask for the file.
func (o calling) mentioned(ctx context.Context, name string) (llm.Content, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(o.agent.site.bounds.Load().Home, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(o.Dir, name)
	}
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, nil // a word such as @param
	}
	call := permission.Call{Tool: "read", Effects: tool.Effects{Reads: []tool.Path{tool.File(name)}, Idempotent: true}}
	if o.agent.site.refuse(name) != nil || o.agent.Gate.Judge(call).Action != permission.Allow {
		return nil, nil
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	content, err := files.Attach(ctx, name)
	if err != nil {
		err = fmt.Errorf("cannot attach %s: %w", name, err)
	}
	return content, err
}

// rules returns the rules of a command. One that Tenon does not know allows nothing.
func (o calling) rules(c slash.Command) (out []permission.Rule) {
	for _, text := range c.Tools {
		all, err := config.FromClaude(o.Dir, permission.Allow, text)
		if err != nil {
			all = []string{text}
		}
		for _, text := range all {
			if rule, err := permission.ParseRule(permission.Allow, permission.Session, text); err == nil {
				out = append(out, rule)
			}
		}
	}
	return out
}

// choosing lets the model of a command answer its run.
func (o calling) choosing(ctx context.Context, c slash.Command) error {
	if c.Model == "" {
		return nil
	}
	ref, warning := modelOf(o.Setup, role.Role{Name: c.Name, Model: cmp.Or(o.Setup.Config.Roles[c.Model], c.Model)})
	if warning != "" {
		o.agent.Announce(live.Notice{Text: fmt.Sprintf("/%s is for the model %s, which is not set up: the model of the session answers", c.Name, c.Model)})
		return nil
	}
	client, err := o.client(ctx, ref)
	if err != nil {
		return err
	}
	before := o.agent.client()
	if err := o.agent.SetClient(ctx, client); err != nil {
		return err
	}
	x := o.agent.expansion
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.before == nil {
		x.before = before
	}
	return nil
}
