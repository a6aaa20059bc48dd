package window

import (
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// noteBegin begins the envelope of a message that has the role of the user but another speaker.
const noteBegin = "<note from=\""

// Spoken returns a message as the model reads it. Protocols have no role for jobs, hooks, other agents and Tenon, so their messages have
// the role of the user. Spoken puts each text between images and documents into an envelope that names the speaker, and that the text cannot
// end. Messages of a person have none.
func Spoken(m session.Message) llm.Message {
	if m.Role != llm.RoleUser {
		return m.Message
	}
	from := m.Author()
	if from.Kind == session.SpeakerPerson || m.Empty() {
		return m.Message
	}
	if m.Source == fromContext || from.Kind == session.SpeakerModel && strings.HasPrefix(m.Text(), lessonIntro) {
		return m.Message // it has its own envelope
	}
	head := noteBegin + string(from.Kind) + "\""
	if from.Name != "" {
		head += " name=\"" + strings.Map(inName, from.Name) + "\""
	}
	out := m.Message
	out.Content = make(llm.Content, 0, len(m.Content)+2)
	text := "" // neighboring texts become one, which cannot have a tag that none of them has
	enclose := func() {
		out.Content = append(out.Content, llm.Text{Text: head + ">\n" + disarm(text, "<note", "</note") + "\n</note>"})
		text = ""
	}
	for _, p := range m.Content {
		if t, ok := p.(llm.Text); ok {
			text += t.Text
			continue
		}
		enclose()
		out.Content = append(out.Content, p)
	}
	if text != "" {
		enclose()
	}
	return out
}

// ByUser reports whether a message of a view has the words of a person.
func ByUser(m llm.Message) bool {
	return m.Role == llm.RoleUser && !strings.HasPrefix(m.Text(), noteBegin) && !isQuoted(m)
}
