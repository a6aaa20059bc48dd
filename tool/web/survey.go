package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxTitle = 300

type region int

const (
	whole    region = iota
	mainOnly        // the declared main part
	article         // the only article
)

// survey is the first pass over a page. It finds the title, the main part, and the tables that only serve layout.
type survey struct {
	title  strings.Builder
	base   string
	layout []bool // of each table, in the order of the page

	inTitle             bool
	all, main, articles int // bytes of text
	inMain, inArticle   int // how deep
	count               int // outermost articles
	tables              []int
}

func (s *survey) start(e *element, attrs []html.Attribute) {
	switch e.tag {
	case atom.Title:
		s.inTitle = true
	case atom.Base:
		if s.base == "" {
			s.base = attr(attrs, "href")
		}
	case atom.Table:
		s.noData()
		s.tables = append(s.tables, len(s.layout))
		s.layout = append(s.layout, false)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Hr, atom.Article, atom.Section:
		s.noData()
	}
	s.enter(e, attrs)
}

// noData marks the current table as layout.
func (s *survey) noData() {
	if n := len(s.tables); n > 0 {
		s.layout[s.tables[n-1]] = true
	}
}

func (s *survey) enter(e *element, attrs []html.Attribute) {
	if e.tag == atom.Main || attr(attrs, "role") == "main" {
		e.begins = true
		s.inMain++
	}
	if e.tag == atom.Article {
		if s.inArticle == 0 {
			s.count++
		}
		s.inArticle++
	}
}

func (s *survey) text(text string) {
	if s.inTitle {
		if s.title.Len() < maxTitle {
			s.title.WriteString(text[:min(len(text), maxTitle)])
		}
		return
	}
	n := len(strings.TrimSpace(text))
	s.all += n
	if s.inMain > 0 {
		s.main += n
	}
	if s.inArticle > 0 {
		s.articles += n
	}
}

func (s *survey) end(e *element) {
	switch e.tag {
	case atom.Title:
		s.inTitle = false
	case atom.Table:
		s.tables = s.tables[:len(s.tables)-1]
	case atom.Article:
		s.inArticle--
	}
	if e.begins {
		s.inMain--
	}
}

// region returns the part to show. A main part with little of the text is most often a mistake of the author.
func (s *survey) region() region {
	switch {
	case s.main > 0 && (s.main*5 >= s.all || s.main > 4000):
		return mainOnly
	case s.count == 1 && s.articles*5 >= s.all:
		return article
	}
	return whole
}
