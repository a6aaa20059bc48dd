package stats

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/markup"
	"github.com/tenon-agent/tenon/transcript"
)

//go:embed stats.css
var statsCSS markup.Trusted

// statsPolicy allows the style of the page and the lengths of its bars, and nothing else.
const statsPolicy = "default-src 'none'; style-src 'unsafe-inline'"

func writeStatsPage(w io.Writer, d *statsData) error {
	page := markup.NewWriter(w)
	page.Write(markup.Trusted("<!doctype html>\n"))
	page.Open("html", markup.Set("lang", "en"))
	page.Write(markup.El("head", nil,
		markup.El("meta", markup.Set("charset", "utf-8")),
		markup.El("meta", markup.Set("name", "viewport").Set("content", "width=device-width, initial-scale=1")),
		markup.El("meta", markup.Set("http-equiv", "Content-Security-Policy").Set("content", statsPolicy)),
		markup.El("meta", markup.Set("name", "color-scheme").Set("content", "light dark")),
		markup.El("title", nil, markup.Text("Tenon: usage")),
		markup.Style(statsCSS)))
	page.Open("body", nil)
	page.Open("main", nil)
	page.Write(d.facts(), d.charts(), d.dayTable(), d.reasonTable(), d.groupTables(), d.toolTable(),
		markup.Leaf("p", "dim made", "Made by Tenon on "+d.Made+" from the journals of its sessions. This page loads nothing."))
	page.Close() // main
	page.Close() // body
	page.Close() // html
	return page.Flush()
}

// facts are the sums of the period.
func (d *statsData) facts() markup.Node {
	where := "all sessions"
	if d.Dir != "" {
		where = "sessions of " + d.Dir
	}
	var facts markup.Nodes
	fact := func(name, value string) {
		facts = append(facts, markup.El("div", nil,
			markup.El("dt", nil, markup.Text(name)), markup.El("dd", nil, markup.Text(value))))
	}
	u := d.Total.Usage
	fact("Requests", strconv.Itoa(d.Total.Requests))
	fact("Tokens read", transcript.Tokens(u.Prompt()))
	fact("From the cache", percent(u.CacheHits()))
	fact("Tokens written", transcript.Tokens(u.Output+u.Reasoning))
	fact("Cost", costColumn(u.Cost))
	missed, _ := d.Total.AllLost()
	fact("Missed by the cache", transcript.Tokens(missed))
	return markup.Nodes{
		markup.El("h1", nil, markup.Text("Usage")),
		markup.Leaf("p", "dim", d.Since+" to "+d.Until+", "+where),
		markup.El("dl", markup.Class("facts"), facts...),
	}
}

func (d *statsData) charts() (out markup.Nodes) {
	if len(d.Days) == 0 {
		return markup.Nodes{markup.El("p", nil, markup.Text("No usage in this time."))}
	}
	for _, c := range charts() {
		picture, about := c.draw(d.Days)
		if picture == nil {
			out = append(out, pageSection(c.name), markup.Leaf("p", "dim", about))
			continue
		}
		caption := markup.Nodes{markup.Leaf("span", "dim", about)}
		if len(c.bars) > 1 {
			caption = nil
			for _, s := range c.bars {
				caption = append(caption, markup.Leaf("span", "key "+s.class, s.name))
			}
		}
		out = append(out, pageSection(c.name), markup.El("figure", nil, markup.El("figcaption", nil, caption...), scrolling(picture)))
	}
	return out
}

func (d *statsData) dayTable() markup.Node {
	var rows markup.Nodes
	for _, r := range d.Days {
		if r.Requests > 0 {
			rows = append(rows, pageRow(nil, r.Key, usageCells(r.Sum)...))
		}
	}
	if len(d.Days) == 0 {
		return nil
	}
	return markup.El("details", nil, markup.El("summary", nil, markup.Text("The days as a table")), pageTable(rows, figureNames("Day")...))
}

func (d *statsData) reasonTable() markup.Node {
	var rows markup.Nodes
	most := int64(1)
	for _, l := range d.Total.Lost {
		most = max(most, l.Tokens)
	}
	for _, m := range ledger.Misses() {
		if l := d.Total.Lost[m]; l.Requests > 0 {
			rows = append(rows, pageRow(pageBar(l.Tokens, most), missWords(m), strconv.Itoa(l.Requests), transcript.Tokens(l.Tokens), costColumn(l.Cost)))
		}
	}
	if rows == nil {
		return nil
	}
	about := "Tokens that the cache of the provider could have served, but did not"
	if _, cost := d.Total.AllLost(); cost != 0 {
		about += ", which cost " + costColumn(cost) + " more"
	}
	return markup.Nodes{
		pageSection("Why the cache was missed"),
		markup.Leaf("p", "dim", about+"."),
		pageTable(rows, "Reason", "Requests", "Tokens", "Cost"),
	}
}

func (d *statsData) groupTables() (out markup.Nodes) {
	const most = 25
	for _, g := range d.Groups {
		shown := g.rows[:min(len(g.rows), most)]
		if len(shown) == 0 {
			continue
		}
		largest := int64(1)
		for _, r := range shown {
			largest = max(largest, r.Usage.Total())
		}
		var rows markup.Nodes
		for _, r := range shown {
			rows = append(rows, pageRow(pageBar(r.Usage.Total(), largest), keyWords(g.by, r), usageCells(r.Sum)...))
		}
		out = append(out, pageSection(g.name), pageTable(rows, figureNames(g.name)...))
		if more := len(g.rows) - most; more > 0 {
			out = append(out, markup.Leaf("p", "dim", fmt.Sprintf("and %d more", more)))
		}
	}
	return out
}

func (d *statsData) toolTable() markup.Node {
	if len(d.Tools) == 0 {
		return nil
	}
	var rows markup.Nodes
	most := 1
	for _, r := range d.Tools {
		most = max(most, r.Calls)
	}
	for _, r := range d.Tools {
		rows = append(rows, pageRow(pageBar(int64(r.Calls), int64(most)), keyWords("tool", r), toolCells(r)...))
	}
	return markup.Nodes{pageSection("Tools"), pageTable(rows, "Tool", "Calls", "Failed", "Results", "Each")}
}

// figureNames are the heads of the columns of figures, after the first.
func figureNames(first string) []string {
	return []string{first, "Requests", "Without cache", "From the cache", "Into it", "Hits", "Written", "Cost", "Missed"}
}

func pageSection(title string) markup.Node { return markup.El("h2", nil, markup.Text(title)) }

// pageBar is the look of a name with a bar behind it: its part of the largest value.
func pageBar(n, most int64) markup.Attrs {
	return markup.Class("bar").Share(float64(n) / float64(most))
}

// pageRow is a row of a table: a name and its figures.
func pageRow(look markup.Attrs, name string, cells ...string) markup.Node {
	inside := markup.Nodes{markup.El("th", look.Set("scope", "row"), markup.Text(name))}
	for _, c := range cells {
		inside = append(inside, markup.El("td", nil, markup.Text(c)))
	}
	return markup.El("tr", nil, inside...)
}

func pageTable(rows markup.Nodes, columns ...string) markup.Node {
	var heads markup.Nodes
	for _, c := range columns {
		heads = append(heads, markup.El("th", markup.Set("scope", "col"), markup.Text(c)))
	}
	return scrolling(markup.El("table", nil,
		markup.El("thead", nil, markup.El("tr", nil, heads...)), markup.El("tbody", nil, rows...)))
}

// scrolling is content that may be wider than the page.
func scrolling(inside markup.Node) markup.Node {
	return markup.El("div", markup.Class("scroll").Set("tabindex", "0"), inside)
}
