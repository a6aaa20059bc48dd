package wire

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The spellings of the two figures in a text about a request that is too long, in lower case: the tokens of the request, and those that the
// model accepts. A number has at least three digits, so that an error number of another kind is not one of them.
const (
	sentFigure = `(\d{3,})(?: \+ \d+)?(?: tokens)? ?>|requested(?: about)? \d+ tokens \((\d{3,}) (?:in|of)|resulted in (\d{3,})` +
		`|given: (\d{3,})|first (\d{3,}) tokens|request \((\d{3,}) tokens|contains (\d{3,})|current length is (\d{3,})` +
		`|token count(?: of|:)? ?\(?(\d{3,})|requested:?(?: about)? (\d{3,})|"n_prompt_tokens": ?(\d{3,})`
	windowFigure = `> ?(\d{3,})|maximum (?:context|prompt) length (?:is|of) (\d{3,})|(\d{3,}) maximum context length` +
		`|context length of only (\d{3,})|must be <= ?(\d{3,})|tokens allowed \(?(\d{3,})|context size \(?(\d{3,})` +
		`|token limit: (\d{3,})|exceeds the limit of (\d{3,})|limit is (\d{3,})|"n_ctx": ?(\d{3,})`
)

// maxFigure is more tokens than any model accepts.
const maxFigure = 1 << 30

var figurePatterns = sync.OnceValues(func() (sent, window *regexp.Regexp) {
	return regexp.MustCompile(sentFigure), regexp.MustCompile(windowFigure)
})

// figures returns the tokens of a refused request, and the tokens that the model accepts, as a server names them; 0: it does not.
func figures(text string) (sent, window int) {
	text = strings.ToLower(text)
	first := func(pattern *regexp.Regexp) int {
		for _, figure := range append(pattern.FindStringSubmatch(text), "")[1:] {
			if n, err := strconv.Atoi(figure); err == nil && n <= maxFigure {
				return n
			}
		}
		return 0
	}
	s, w := figurePatterns()
	return first(s), first(w)
}
