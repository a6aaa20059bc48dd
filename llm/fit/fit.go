package fit

import (
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Rules are the parts that a model accepts through a protocol.
type Rules struct {
	Images       bool     // in messages of the user
	Documents    bool     // in messages of the user
	ResultImages bool     // in results of calls; else they follow in a message of the user, after all results of the answer
	ImageTypes   []string // MIME types; nil: PNG, JPEG, GIF and WebP
	MaxImage     int      // bytes of one image; 0: no limit
	NoCalls      bool     // no tools: calls and results become text

	// Thinking says whether thinking of a message of that model ("provider/model") goes back, and with which changes. Nil: none does.
	Thinking func(model string, t llm.Thinking) (llm.Thinking, bool)

	// Opaque says whether what came with texts and calls of that model goes back untouched. Nil: none does.
	Opaque func(model string) bool

	IDs   func(byte) bool // what an ID of a call may be made of; nil: a-z A-Z 0-9 _ -
	MaxID int             // bytes of such an ID; 0: 64

	// ExactID is how many letters and digits an ID of a call must be, no more and no less; IDs and MaxID do not count then. 0: any.
	ExactID int
}

// The texts that a model reads in place of parts that it does not accept.
const (
	lostResult = "The result of this call was lost."
	noOutput   = "(no output)"
	proceed    = "Continue."
	beginning  = "(The conversation continues here.)"
)

// Messages returns the messages of a conversation in a form that a model with those rules accepts. It guarantees:
//   - there is at least one message, the first and the last are not of the assistant, and roles of user and assistant alternate;
//   - every call has a unique ID that follows the rules, a name, a JSON object as arguments, and exactly one result; the
//     results follow the answer directly, in the order of its calls;
//   - every message has content, no text is blank, no part has a kind that the rules exclude, and every image or document has data.
//
// The result shares unchanged messages with the argument.
func Messages(all []llm.Message, r Rules) []llm.Message {
	f := fitter{rules: r, ids: make(map[string]bool), tried: make(map[string]attempt)}
	for i, m := range all {
		switch m.Role {
		case llm.RoleUser:
			f.user(m)
		case llm.RoleAssistant:
			f.assistant(m, all[i+1:])
		}
	}
	switch {
	case len(f.out) == 0, f.last().Role == llm.RoleAssistant:
		f.add(llm.UserText(proceed))
	}
	return f.out
}

type fitter struct {
	rules Rules
	out   []llm.Message
	ids   map[string]bool    // IDs of calls that are taken
	tried map[string]attempt // for an ID that was wanted before, the last one that was given for it
}

func (f *fitter) last() *llm.Message { return &f.out[len(f.out)-1] }

// add appends a message, or its content to the last one when that is of the same role. The content must be the fitter's own.
func (f *fitter) add(m llm.Message) {
	if len(f.out) == 0 && m.Role == llm.RoleAssistant {
		f.out = append(f.out, llm.UserText(beginning))
	}
	if len(f.out) > 0 && f.last().Role == m.Role && m.Role != llm.RoleTool {
		last := f.last()
		last.Content = append(last.Content, m.Content...)
		return
	}
	f.out = append(f.out, m)
}

func (f *fitter) user(m llm.Message) {
	m.Content = f.parts(m.Content, f.rules.Images, f.rules.Documents)
	if len(m.Content) > 0 {
		f.add(m)
	}
}

// assistant adds an answer with the results of its calls, which are looked for in what follows it.
func (f *fitter) assistant(m llm.Message, after []llm.Message) {
	follows := len(f.out) > 0 && f.last().Role == llm.RoleAssistant
	var content llm.Content
	var results []llm.Message
	waiting := resultsIn(after)
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			if !f.opaque(m.Model) {
				p.Opaque = nil
			}
			if strings.TrimSpace(p.Text) != "" || p.Opaque != nil {
				content = append(content, p)
			}
		case llm.Thinking:
			// Providers refuse thinking after the text of another answer: it must begin an answer.
			if t, ok := f.thinking(m.Model, p); ok && !follows {
				content = append(content, t)
			}
		case llm.ToolCall:
			call, result := f.call(m.Model, p, waiting.take(p))
			if f.rules.NoCalls {
				content = append(content, llm.Text{Text: "[called the tool " + call.Name + " with " + call.Arguments + "]"})
			} else {
				content = append(content, call)
			}
			results = append(results, result)
		case llm.Image, llm.Document:
			content = append(content, llm.Text{Text: "[" + describe(p) + " left out]"})
		}
	}
	m.Content = dropLoneThinking(content)
	if len(m.Content) == 0 {
		return
	}
	f.add(m)
	f.results(results)
}

func (f *fitter) opaque(model string) bool { return f.rules.Opaque != nil && f.rules.Opaque(model) }

func (f *fitter) thinking(model string, t llm.Thinking) (llm.Thinking, bool) {
	if f.rules.Thinking == nil {
		return t, false
	}
	return f.rules.Thinking(model, t)
}

// dropLoneThinking returns nothing for an answer that is only thinking: no protocol takes it.
func dropLoneThinking(c llm.Content) llm.Content {
	for _, p := range c {
		if _, ok := p.(llm.Thinking); !ok {
			return c
		}
	}
	return nil
}

// pending is the results that no call has taken yet, by the ID of their call, in their order.
type pending map[string][]llm.Message

// resultsIn finds the results before the next answer.
func resultsIn(after []llm.Message) pending {
	found := make(pending)
	for _, m := range after {
		if m.Role == llm.RoleAssistant {
			break
		}
		if m.Role == llm.RoleTool {
			found[m.CallID] = append(found[m.CallID], m)
		}
	}
	return found
}

// take returns the result of a call, the first that is left, or one that says that it was lost.
func (p pending) take(c llm.ToolCall) llm.Message {
	left := p[c.ID]
	if len(left) == 0 {
		return llm.ToolText(c, lostResult, true)
	}
	p[c.ID] = left[1:]
	return left[0]
}

// results adds the results of one answer, followed by the images that results cannot contain.
func (f *fitter) results(results []llm.Message) {
	var aside llm.Content
	for _, m := range results {
		images := f.rules.Images && f.rules.ResultImages
		if f.rules.Images && !images {
			m.Content, aside = f.setAside(m, aside)
		}
		m.Content = f.parts(m.Content, images, f.rules.Documents && f.rules.ResultImages)
		if len(m.Content) == 0 {
			m.Content = llm.Content{llm.Text{Text: noOutput}}
		}
		if f.rules.NoCalls {
			text := "[result of the tool " + m.Tool + ": " + m.Text() + "]"
			f.add(llm.Message{Role: llm.RoleUser, Content: llm.Content{llm.Text{Text: text}}})
			continue
		}
		f.add(m)
	}
	if len(aside) > 0 {
		f.add(llm.Message{Role: llm.RoleUser, Content: aside})
	}
}

// setAside moves the images of a result to aside, with a note in each place that says so.
func (f *fitter) setAside(m llm.Message, aside llm.Content) (rest, _ llm.Content) {
	for _, p := range m.Content {
		image, ok := p.(llm.Image)
		if !ok {
			rest = append(rest, p)
			continue
		}
		seen, ok := f.image(image)
		if !ok {
			rest = append(rest, seen)
			continue
		}
		rest = append(rest, llm.Text{Text: "[the image follows after the results]"})
		aside = append(aside, llm.Text{Text: "[image of the result of " + m.Tool + "]"}, seen)
	}
	return rest, aside
}
