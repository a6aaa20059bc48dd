// Command figures prints the figures of the house, one to a line, and fails if one exceeds its limit: lines of product code, the names
// that each public package exports, types with many methods, the largest files, the share of comments, and imports from a lower to a higher
// package. Run it at the root of the module:
//
//	go run ./internal/rules/figures
package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// The limits. See docs/developers/architecture.md.
const (
	mostLines   = 92_000 // of product code: no tests, no test support
	mostMethods = 25     // of a type
	mostNames   = 60     // lines of go doc -short of a public package
	mostOfAll   = 105    // the same for session, which has all kinds of entries
)

// linesToday is the limit for product code until it is below mostLines. It shrinks, unless the commit that raises it says why.
const linesToday = 152_000

// Exceptions that exist today. The lists only shrink: an entry without need is an error.
var (
	fatTypes = []string{}
	fatDocs  = []string{}
)

func main() {
	h, err := measure(".")
	if err == nil {
		err = h.print(os.Stdout, fatTypes, fatDocs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// print writes the figures. The error lists the limits that are exceeded, but for the types and packages that are excepted.
func (h *house) print(w io.Writer, fatTypes, fatDocs []string) error {
	var wrong []string
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	fmt.Fprintf(w, "lines of product code    %d of at most %d, in %d files\n", h.lines, mostLines, h.files)
	fmt.Fprintf(w, "lines of test support    %d\n", h.support)
	fmt.Fprintf(w, "lines of tests           %d\n", h.tests)
	fmt.Fprintf(w, "comment lines            %.1f %% of product code\n", 100*float64(h.comments)/float64(max(h.lines, 1)))
	if h.lines >= linesToday {
		fail("product code has %d lines, the limit is %d, for today %d", h.lines, mostLines, linesToday)
	}

	fmt.Fprintf(w, "\ntypes with most methods (at most %d)\n", mostMethods)
	for i, name := range byCount(h.methods) {
		n := h.methods[name]
		known := slices.Contains(fatTypes, name)
		if n > mostMethods && !known {
			fail("%s has %d methods, the limit is %d", name, n, mostMethods)
		}
		if n <= mostMethods && known {
			fail("%s has %d methods: remove it from fatTypes", name, n)
		}
		if i < 10 || n > mostMethods {
			fmt.Fprintf(w, "%4d  %s\n", n, name)
		}
	}
	for _, name := range fatTypes {
		if h.methods[name] == 0 {
			fail("%s is gone: remove it from fatTypes", name)
		}
	}

	fmt.Fprintf(w, "\ngo doc -short, lines (at most %d, session %d)\n", mostNames, mostOfAll)
	for i, name := range byCount(h.docs) {
		n, most := h.docs[name], mostNames
		if name == "session" {
			most = mostOfAll
		}
		known := slices.Contains(fatDocs, name)
		if n > most && !known {
			fail("go doc -short ./%s prints %d lines, the limit is %d", name, n, most)
		}
		if n <= most && known {
			fail("go doc -short ./%s prints %d lines: remove it from fatDocs", name, n)
		}
		if i < 10 || n > most {
			fmt.Fprintf(w, "%4d  %s\n", n, name)
		}
	}

	fmt.Fprintf(w, "\nlargest files, lines\n")
	for _, name := range byCount(h.sizes)[:min(10, len(h.sizes))] {
		fmt.Fprintf(w, "%4d  %s\n", h.sizes[name], name)
	}

	fmt.Fprintf(w, "\nimports between packages: %d, from a lower to a higher level: %d\n", h.imports, len(h.upward))
	for _, dir := range slices.Sorted(maps.Keys(h.unlisted)) {
		fail("%s is in no level: add it to levels in internal/rules/figures/measure.go", dir)
	}
	for _, u := range h.upward {
		fail("%s: a lower package imports a higher one", u)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d limits exceeded:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
	}
	return nil
}

// byCount is the names of a count, the largest first.
func byCount(count map[string]int) []string {
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
}
