package config

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/spelling"
	"github.com/tenon-agent/tenon/llm"
)

// rule is what a string must be. The pattern says in the schema what ok checks: no more, and less where a pattern cannot.
type rule struct {
	expect  string
	pattern string
	ok      func(string) bool
}

const durationPattern = `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`

// rules returns the rule of a name that tags give.
func rules(name string) (rule, bool) {
	const (
		word     = `[A-Za-z0-9][A-Za-z0-9._-]*`
		provider = `[a-z0-9][a-z0-9._-]*`
		model    = `[!-#%-~]+` // visible ASCII without the dollar
	)
	switch name {
	case "name", "profile":
		return rule{"a name of letters, digits, dots, hyphens and underscores", `^` + word + `$`, isName}, true
	case "provider":
		return rule{"a name of small letters, digits, dots, hyphens and underscores", `^` + provider + `$`, isProvider}, true
	case "model":
		return rule{
			"provider/model, provider/model@variant, or the name of a pool",
			`^(` + word + `|` + provider + `/` + model + `)$`,
			func(s string) bool { return isName(s) || isRef(s) },
		}, true
	case "ref":
		return rule{"provider/model or provider/model@variant", `^` + provider + `/` + model + `$`, isRef}, true
	case "plainref":
		return rule{"provider/model without a variant", `^` + provider + `/` + model + `$`, func(s string) bool {
			r, err := ParseRef(s)
			return err == nil && r.Variant == ""
		}}, true
	case "id":
		return rule{"the name of a model, without spaces", `^` + model + `$`, isModelID}, true
	case "variant":
		return rule{
			"a name that begins with a small letter, of small letters, digits, hyphens and underscores, and is not default or latest",
			`^[a-z][a-z0-9_-]*$`, isVariant,
		}, true
	case "cache":
		const place = `(system|tools|messages)`
		return rule{
			"auto, off, or some of system, tools and messages, separated by commas",
			`^(auto|off|` + place + `(,` + place + `)*)$`,
			func(s string) bool {
				return s == "auto" || s != "" && llm.CachePolicy(s).Valid() && !strings.Contains(s, " ")
			},
		}, true
	case "path":
		return rule{
			"a path: absolute, or with ~/ from the home directory, or from the root of the workspace", `^[^\x00-\x1f$]+$`,
			func(s string) bool {
				return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '$' })
			},
		}, true
	case "filename":
		return rule{"the name of a file, without a directory", `^[^\x00-\x1f/\\$]+$`, func(s string) bool {
			return s != "" && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || strings.ContainsRune(`/\$`, r) })
		}}, true
	case "host":
		return rule{
			"a host, host:port, *.domain or network such as 10.0.0.0/8, without a scheme or a path",
			`^[A-Za-z0-9*:\[][A-Za-z0-9*._:\[\]-]*(/[0-9]+)?$`, isHost,
		}, true
	case "command":
		return rule{"a command line", `^.*[!-~].*$`, func(s string) bool {
			return !strings.Contains(s, "\n") && strings.ContainsFunc(s, func(r rune) bool { return r > ' ' && r <= '~' })
		}}, true
	case "verdict":
		return rule{"allow, ask or deny", `^(allow|ask|deny)$`, func(s string) bool { return s == "allow" || s == "ask" || s == "deny" }}, true
	case "header":
		return rule{"the name of an HTTP header", "^[A-Za-z0-9!#%&'*+.^_`|~-]+$", isHeader}, true
	}
	return rule{}, false
}

func isName(s string) bool     { return isWord(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") }
func isProvider(s string) bool { return isWord(s, "") }

// isWord reports whether s is a word of small letters, digits, marks and what else is allowed, and begins with no mark.
func isWord(s, more string) bool {
	for i, r := range s {
		inside := i > 0 && strings.ContainsRune("._-", r)
		if !inside && (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r) {
			return false
		}
	}
	return s != ""
}

func isModelID(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' || r == '$' {
			return false
		}
	}
	return s != ""
}

func isRef(s string) bool {
	_, err := ParseRef(s)
	return err == nil
}

func isVariant(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && isProvider(s) && !strings.Contains(s, ".") && s != "default" && s != "latest"
}

func isHost(s string) bool {
	host, bits, network := strings.Cut(s, "/")
	for i, r := range host {
		if !isName(string(r)) && !strings.ContainsRune("*:[", r) && (i == 0 || !strings.ContainsRune(".-_]", r)) {
			return false
		}
	}
	return host != "" && (!network || bits != "" && strings.Trim(bits, "0123456789") == "")
}

func isHeader(s string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("!#%&'*+.^_`|~-", r) {
			return false
		}
	}
	return s != ""
}

// words returns the values that a type of strings has, nil where any string will do.
func words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[llm.Thinks]():
		return texts(llm.ThinkOff, llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh)
	case reflect.TypeFor[llm.Quirk]():
		return texts(llm.QuirkAdaptiveThinking, llm.QuirkNoTemperature, llm.QuirkNoSystem, llm.QuirkNativeSchema)
	case reflect.TypeFor[Mode]():
		return texts(modes...)
	case reflect.TypeFor[SearchBackend]():
		return texts(SearXNG, Brave, Exa, Tavily)
	case reflect.TypeFor[Protocol]():
		return texts(Anthropic, OpenAIChat, OpenAIResponses, Gemini, Vertex, VertexAnthropic, Bedrock, AzureChat, AzureResponses)
	}
	return nil
}

func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// parseDuration reads what durationPattern says.
func parseDuration(s string) (time.Duration, bool) {
	if s == "" || !digit(s[0]) || strings.ContainsAny(s, "+-μ") || s != "0" && strings.Trim(s, "0") == "" {
		return 0, false
	}
	for i := range len(s) {
		if s[i] == '.' && (!digit(s[i-1]) || i+1 == len(s) || !digit(s[i+1])) {
			return 0, false
		}
	}
	v, err := time.ParseDuration(s)
	return v, err == nil
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

// wrongURL returns what is wrong with a URL, "" for nothing, in words that hold nothing of it: it may hold a password.
func wrongURL(is, s string) string {
	schemes, example := []string{"http", "https"}, "https://example.com/v1"
	if is == "proxy" {
		schemes, example = append(schemes, "socks5", "socks5h"), "http://proxy.example.com:3128"
	}
	u, err := url.Parse(s)
	if err == nil && u.Hostname() != "" && slices.Contains(schemes, u.Scheme) {
		return ""
	}
	return fmt.Sprintf("expected an address that begins with %s://, such as %s", strings.Join(schemes, "://, "), example)
}

// meant returns ", did you mean ...?" for a word that is near to one of those known, when there are not too many to look at.
func meant(word string, known []string) string {
	const longest, most = 64, 500
	if len(word) > longest || len(known) > most {
		return ""
	}
	best, at := len(word)/3+1, ""
	for _, k := range known {
		if d := spelling.Distance(word, k); d > 0 && d <= best && (at == "" || d < best) {
			best, at = d, k
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", at)
}

// clip returns s in quotes, cut where it is long.
func clip(s string) string {
	const longest = 64
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
