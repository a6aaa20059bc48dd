package modelserver

import (
	"cmp"
	"fmt"
	"net/http"
	"unicode"

	"github.com/tenon-agent/tenon/llm"
)

// Tokens counts the tokens of a text as the server does. It shares no code with the estimate of the program. Compared with o200k_base, it is
// within three tenths for each of the samples of package tokens, and within a twentieth for all of them together.
//
// A word costs one token for each seven letters and for each change to capitals, a number one for each three digits, marks one for each three.
// White space costs less than a token, and nothing if it is one space. Letters beyond ASCII cost more.
func Tokens(text string) int {
	total := 0.0
	var last class
	length, space := 0, 0
	upper := false
	end := func() {
		switch last {
		case word:
			total += 1 + float64(max(length-1, 0)/7)
		case foreign:
			total += 1 + float64(length-1)/5.5
		case digit:
			total += float64((length + 2) / 3)
		case mark:
			total += 1 + float64(max(length-1, 0)/3)
		case blank:
			if length > 1 || space != ' ' {
				total += 0.7
			}
		}
	}
	for _, r := range text {
		c := classOf(r)
		switch {
		case c == foreign && (last == word || last == foreign) && unicode.Is(unicode.Latin, r): // it does not end the word
			c, total = last, total+0.5
		case unicode.Is(unicode.Thai, r):
			total += 0.45
		case c == dense:
			total += 0.75
		case c == mark && r > '◿': // emoji
			total++
		}
		if c != last || c == dense || c == word && unicode.IsUpper(r) && !upper {
			end()
			last, length = c, 0
		}
		upper = unicode.IsUpper(r)
		space = int(r)
		length++
	}
	end()
	return int(total + 0.999)
}

// class is a kind of letters.
type class int

const (
	none    class = iota
	word          // ASCII letters
	foreign       // other letters
	dense         // letters of scripts without spaces
	digit
	mark
	blank
)

func classOf(r rune) class {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		return word
	case r >= '0' && r <= '9':
		return digit
	case unicode.IsSpace(r):
		return blank
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return dense
	case unicode.IsLetter(r), unicode.IsMark(r):
		return foreign
	default:
		return mark
	}
}

// count returns the tokens of a request.
func (s *Server) count(r *Request) int {
	const frame, image = 4, 1600
	n := Tokens(r.System)
	for _, t := range r.Tools {
		n += frame + Tokens(t.Name+" "+t.Description+" "+string(t.Schema))
	}
	for _, m := range r.Messages {
		n += frame + Tokens(m.Text())
		for _, p := range m.Content {
			switch p := p.(type) {
			case llm.ToolCall:
				n += frame + Tokens(p.Name+p.Arguments)
			case llm.Thinking:
				n += Tokens(p.Text)
			case llm.Image:
				n += image
			}
		}
	}
	if f := s.config.Vocabulary; f > 0 {
		n = int(f * float64(n))
	}
	return n
}

// window returns the context window for a request; 0: there is no limit.
func (s *Server) window(r *Request) int { return cmp.Or(r.NumCtx, s.config.Window) }

// full returns the provider's words for a request that exceeds the context window, or nothing. Anthropic and OpenAI Chat also count the answer that
// the request allows.
func (s *Server) full(r *Request) string {
	window, answer := s.window(r), 0
	if r.Protocol == Anthropic || r.Protocol == AnthropicVertex || r.Protocol == OpenAIChat {
		answer = r.MaxTokens
	}
	if window <= 0 || r.Tokens+answer <= window {
		return ""
	}
	switch r.Protocol {
	case Anthropic, AnthropicVertex:
		if r.Tokens > window {
			return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", r.Tokens, window)
		}
		return fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again",
			r.Tokens, answer, window)
	case OpenAIChat:
		return fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the "+
			"completion). Please reduce the length of the messages or completion.", window, r.Tokens+answer, r.Tokens, answer)
	case Gemini, GeminiVertex:
		return fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", r.Tokens, window)
	default:
		return overflowText(r.Protocol)
	}
}

// refuseFull refuses a request that exceeds the context window, and reports whether it did. Ollama answers instead unless the request forbids it
// to drop messages.
func (s *Server) refuseFull(w http.ResponseWriter, req *Request) bool {
	text := s.full(req)
	if text == "" {
		return false
	}
	req.Violation = fmt.Errorf("a request of %d tokens and an answer of %d exceed the context window of %d", req.Tokens, req.MaxTokens, s.window(req))
	if req.Protocol == Ollama && req.truncates {
		req.Violation = fmt.Errorf("%w; set truncate to false, or Ollama drops messages", req.Violation)
		return false
	}
	s.record(req)
	o := &output{s: s, w: w, req: req}
	o.fail(Fail(http.StatusBadRequest).Message(text))
	return true
}
