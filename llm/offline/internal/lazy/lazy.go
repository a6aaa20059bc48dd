// Package lazy has regular expressions that are compiled when they are first used: a program that links the offline model
// does not pay at its start for what it may never ask of it.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression of the package regexp. It is safe for concurrent use.
type Regexp struct {
	text   string
	once   sync.Once
	regexp *regexp.Regexp
}

// Compile returns the expression. A text that is none panics when it is first used; a test compiles all that are written
// as constants.
func Compile(text string) *Regexp { return &Regexp{text: text} }

func (r *Regexp) compiled() *regexp.Regexp {
	r.once.Do(func() { r.regexp = regexp.MustCompile(r.text) })
	return r.regexp
}

// The methods are those of regexp.Regexp.

func (r *Regexp) MatchString(s string) bool            { return r.compiled().MatchString(s) }
func (r *Regexp) FindString(s string) string           { return r.compiled().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int       { return r.compiled().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, f)
}

func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }
