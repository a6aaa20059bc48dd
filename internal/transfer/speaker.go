package transfer

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The other programs send their own texts in the role of the user: reminders, output of commands and hooks, news of agents, attached
// files. Such a text must not have the person's authority, so say gives it another speaker.

// byProgram has the tags of such texts by their speaker.
var byProgram = map[session.SpeakerKind]string{
	session.SpeakerTool:  "local-command-stdout local-command-stderr bash-input bash-stdout bash-stderr user_shell_command command-output file",
	session.SpeakerHook:  "user-prompt-submit-hook session-start-hook hook_prompt hook_output",
	session.SpeakerJob:   "task-notification background-task",
	session.SpeakerAgent: "teammate-message subagent_notification",
	session.SpeakerTenon: "system-reminder system_reminder local-command-caveat environment_context user_instructions INSTRUCTIONS turn_aborted " +
		"skill permissions apps_instructions collaboration_mode model_switch personality_spec ide_opened_file ide_selection ide_diagnostics",
}

// plainTexts are the beginnings of texts of programs without a tag.
var plainTexts = []string{
	"# AGENTS.md instructions", "[Request interrupted by user", "Caveat: The messages below were generated",
	"This session is being continued from a previous conversation", "Stop hook feedback", "Called the Read tool with the following input",
}

// programTags returns an expression for the beginning of a text of a program, and the speaker of each tag.
var programTags = sync.OnceValues(func() (*regexp.Regexp, map[string]session.SpeakerKind) {
	speakers := map[string]session.SpeakerKind{}
	var names []string
	for kind, tags := range byProgram {
		for _, tag := range strings.Fields(tags) {
			speakers[tag] = kind
			names = append(names, regexp.QuoteMeta(tag))
		}
	}
	return regexp.MustCompile(`(?m)^[ \t]*<(` + strings.Join(names, "|") + `)(?:[ \t][^<>]*)?>`), speakers
})

// spoken is a text or another part with its speaker.
type spoken struct {
	by   session.SpeakerKind
	part llm.Part
}

// speakersOf splits a message of a person into the parts that the person wrote and the parts that a program wrote. A text of a
// program reaches to the end of its part: its content could contain a closing tag, and then words in the person's name.
func speakersOf(c llm.Content) (all []spoken) {
	tags, speakers := programTags()
	for _, p := range c {
		t, ok := p.(llm.Text)
		if !ok {
			all = append(all, spoken{session.SpeakerPerson, p})
			continue
		}
		by, at := session.SpeakerPerson, len(t.Text)
		if i := strings.IndexByte(t.Text, '<'); i >= 0 {
			i = strings.LastIndexByte(t.Text[:i], '\n') + 1 // the expression is slow, and most texts have no tag
			if loc := tags.FindStringSubmatchIndex(t.Text[i:]); loc != nil {
				by, at = speakers[t.Text[i+loc[2]:i+loc[3]]], i+loc[0]
			}
		}
		for _, beginning := range plainTexts {
			if strings.HasPrefix(strings.TrimSpace(t.Text), beginning) {
				by, at = session.SpeakerTenon, 0
			}
		}
		if strings.TrimSpace(t.Text[:at]) != "" {
			all = append(all, spoken{session.SpeakerPerson, llm.Text{Text: t.Text[:at]}})
		}
		if strings.TrimSpace(t.Text[at:]) != "" {
			all = append(all, spoken{by, llm.Text{Text: t.Text[at:]}})
		}
	}
	return all
}

// personText returns the words of the person in a message.
func personText(c llm.Content) string {
	var text []string
	for _, s := range speakersOf(c) {
		if t, ok := s.part.(llm.Text); ok && s.by == session.SpeakerPerson {
			text = append(text, strings.TrimSpace(t.Text))
		}
	}
	return strings.Join(text, "\n")
}

// say adds the messages of a user message: one for each speaker in turn. by is the speaker of the parts that no tag gives to another
// one. In the session of a sub-agent an agent speaks instead of a person. say returns the last node.
func (b *builder) say(parent int, side bool, at time.Time, by session.SpeakerKind, c llm.Content) (last int, err error) {
	if side && by == session.SpeakerPerson {
		by = session.SpeakerAgent
	}
	last = parent
	var m session.Message
	flush := func() {
		if len(m.Content) > 0 && err == nil {
			last, err = b.add(last, side, at, m)
		}
		m = session.Message{}
	}
	for _, s := range speakersOf(c) {
		if s.by == session.SpeakerPerson {
			s.by = by
		}
		if s.by != m.Speaker.Kind {
			flush()
		}
		m.Role, m.Speaker, m.Content = llm.RoleUser, session.Speaker{Kind: s.by}, append(m.Content, s.part)
	}
	flush()
	return last, err
}
