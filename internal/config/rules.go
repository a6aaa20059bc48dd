package config

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/internal/spelling"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/workspace/host"
)

// rule is a condition on a string. The schema has the pattern, which accepts every string that ok accepts. It may accept more.
type rule struct {
	expect  string
	pattern string
	ok      func(string) bool
}

const durationPattern = `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`

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
		return rule{"a name of small letters, digits, dots, hyphens and underscores", `^` + provider + `$`, models.IsProvider}, true
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
			r, err := models.ParseRef(s)
			return err == nil && r.Variant == ""
		}}, true
	case "id":
		return rule{"the name of a model, without spaces", `^` + model + `$`, models.IsModelID}, true
	case "variant":
		return rule{
			"a name that begins with a small letter, of small letters, digits, hyphens and underscores, and is not default or latest",
			`^[a-z][a-z0-9_-]*$`, models.IsVariant,
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
			"a path: absolute, relative to the home directory with ~/, or relative to the root of the workspace", `^[^\x00-\x1f$]+$`,
			func(s string) bool {
				return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '$' })
			},
		}, true
	case "filename":
		return rule{"the name of a file, without a directory", `^([^\x00-\x1f/\\$.][^\x00-\x1f/\\$]*|\.[^\x00-\x1f/\\$.][^\x00-\x1f/\\$]*|\.\.[^\x00-\x1f/\\$]+)$`, func(s string) bool {
			return s != "" && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || strings.ContainsRune(`/\$`, r) })
		}}, true
	case "host":
		return rule{
			"a host, host:port, *.domain, network such as 10.0.0.0/8, or group of hosts: " + strings.Join(host.Groups(), ", "),
			`^((` + strings.Join(host.Groups(), "|") + `)|[A-Za-z0-9*:\[][A-Za-z0-9*._:\[\]-]*(/[0-9]+)?)$`, isHost,
		}, true
	case "command":
		return rule{"a command line", `^.*[!-~].*$`, func(s string) bool {
			return !strings.Contains(s, "\n") && strings.ContainsFunc(s, func(r rune) bool { return r > ' ' && r <= '~' })
		}}, true
	case "variable":
		return rule{"the name of an environment variable", `^[A-Za-z_][A-Za-z0-9_]*$`, func(s string) bool {
			return s != "" && !('0' <= s[0] && s[0] <= '9') && !strings.ContainsFunc(s, func(r rune) bool {
				return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
			})
		}}, true
	case "tool":
		all := slices.Concat(RareTools(), LateTools())
		return rule{"one of " + strings.Join(all, ", "), "^(" + strings.Join(all, "|") + ")$", func(s string) bool { return slices.Contains(all, s) }}, true
	case "keys":
		return rule{"keys separated by commas, such as ctrl+k, or none", `^[^\x00-\x1f$]+$`, func(s string) bool {
			return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '$' })
		}}, true
	case "verdict":
		return rule{"allow, ask or deny", `^(allow|ask|deny)$`, func(s string) bool { return s == "allow" || s == "ask" || s == "deny" }}, true
	case "argument":
		return rule{"a text without NUL", `^[^\x00]*$`, func(s string) bool { return !strings.Contains(s, "\x00") }}, true
	case "glob":
		return rule{"a name, with * and ?", `^[^\x00-\x20$]+$`, func(s string) bool {
			return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '$' })
		}}, true
	case "header":
		return rule{"the name of an HTTP header", "^[A-Za-z0-9!#%&'*+.^_`|~-]+$", isHeader}, true
	}
	return rule{}, false
}

func isName(s string) bool {
	return models.IsProvider(strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s))
}

func isRef(s string) bool {
	_, err := models.ParseRef(s)
	return err == nil
}

func isHost(s string) bool {
	if slices.Contains(host.Groups(), s) {
		return true
	}
	name, bits, network := strings.Cut(s, "/")
	for i, r := range name {
		if !isName(string(r)) && !strings.ContainsRune("*:[", r) && (i == 0 || !strings.ContainsRune(".-_]", r)) {
			return false
		}
	}
	return name != "" && (!network || bits != "" && strings.Trim(bits, "0123456789") == "")
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

// words returns the allowed values of a string type, or nil if it allows any string.
func words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[llm.Thinks]():
		return texts(append(llm.Levels(), llm.ThinkProvider)...)
	case reflect.TypeFor[Strategy]():
		return texts(StrategyTidy, StrategyFull, StrategyRecent, StrategySummaryRecent, StrategyTiers)
	case reflect.TypeFor[budget.Policy]():
		return texts(budget.Refuse, budget.Notice)
	case reflect.TypeFor[llm.Quirk]():
		return texts(llm.QuirkAdaptiveThinking, llm.QuirkBoundThinking, llm.QuirkNoTemperature, llm.QuirkNoSystem, llm.QuirkNativeSchema)
	case reflect.TypeFor[permission.Mode]():
		return texts(permission.Modes()...)
	case reflect.TypeFor[Theme]():
		return texts(ThemeAuto, ThemeDark, ThemeLight, ThemeHighContrastDark, ThemeHighContrastLight, ThemeColorBlindDark, ThemeColorBlindLight, ThemeTerminal, ThemePlain)
	case reflect.TypeFor[MCPTransport]():
		return texts(MCPOverHTTP, MCPOverSSE)
	case reflect.TypeFor[MCPGrant]():
		return texts(GrantLogin, GrantClientCredentials)
	case reflect.TypeFor[OpenAPIAuth]():
		return texts(AuthBearer, AuthBasic, AuthHeader, AuthQuery, AuthCookie, AuthOAuth)
	case reflect.TypeFor[SearchBackend]():
		return texts(SearXNG, Brave, Exa, Tavily)
	case reflect.TypeFor[CodeBackend]():
		return texts(Sourcegraph)
	case reflect.TypeFor[models.Protocol]():
		return texts(models.Protocols()...)
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

// parseDuration parses a duration that matches durationPattern.
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

// wrongURL describes the mistake in a URL without quoting the URL, which may contain a password. It returns "" if there is none.
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

// meant returns ", did you mean ...?" if a word is similar to a known one. It returns "" if the word or the list is too long to compare.
func meant(word string, known []string) string {
	const longest, most = 64, 500
	if len(word) > longest || len(known) > most {
		return ""
	}
	near := spelling.Nearest(word, known, len(word)/3+1)
	if near == "" || near == word {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", near)
}

// clip returns s in quotes, truncated if it is long.
func clip(s string) string {
	const longest = 64
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
