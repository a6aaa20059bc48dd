package cli

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/markup"
)

//go:embed stats.css
var statsCSS markup.Trusted

// statsPolicy lets the page have its style, the lengths of its bars, and nothing from anywhere.
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
		markup.El("title", nil, markup.Text("Tenon: what was used")),
		markup.Style(statsCSS)))
	page.Open("body", nil)
	page.Open("main", nil)
	page.Write(d.facts(), d.charts(), d.dayTable(), d.reasonTable(), d.groupTables(), d.toolTable(),
		markup.Leaf("p", "dim made", "Made by Tenon on "+d.Made+" from the journals of its sessions. Nothing is loaded from elsewhere."))
	page.Close() // main
	page.Close() // body
	page.Close() // html
	return page.Flush()
}

// facts are the sums of the whole time.
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
	fact("Tokens read", tokens(u.Prompt()))
	fact("From the cache", percent(u.CacheHits()))
	fact("Tokens written", tokens(u.Output+u.Reasoning))
	fact("Cost", costColumn(u.Cost))
	fact("Missed by the cache", tokens(d.Missed))
	return markup.Nodes{
		markup.El("h1", nil, markup.Text("What was used")),
		markup.Leaf("p", "dim", d.Since+" to "+d.Until+", "+where),
		markup.El("dl", markup.Class("facts"), facts...),
	}
}

func (d *statsData) charts() (out markup.Nodes) {
	if len(d.Days) == 0 {
		return markup.Nodes{markup.El("p", nil, markup.Text("Nothing was used in this time."))}
	}
	for _, c := range d.Charts {
		var caption markup.Nodes
		for _, l := range c.Legend {
			caption = append(caption, markup.El("span", markup.Class("key", l.Class), markup.Text(l.Name)))
		}
		if len(c.Legend) < 2 {
			caption = markup.Nodes{markup.Leaf("span", "dim", c.About)}
		}
		out = append(out, pageSection(c.Name),
			markup.El("figure", nil, markup.El("figcaption", nil, caption...), scrolling(c.Picture)))
	}
	return out
}

func (d *statsData) dayTable() markup.Node {
	var rows markup.Nodes
	for _, r := range d.Days {
		if r.Requests > 0 {
			rows = append(rows, pageRow(nil, r.Key, figureCells(r.Sum)...))
		}
	}
	if len(d.Days) == 0 {
		return nil
	}
	return markup.El("details", nil, markup.El("summary", nil, markup.Text("The days as a table")), pageTable(rows, figureNames("Day")...))
}

func (d *statsData) reasonTable() markup.Node {
	if len(d.Reasons) == 0 {
		return nil
	}
	about := "Tokens that were read anew and could have come from the provider's cache"
	if d.MissedCost != 0 {
		about += ", which cost " + costColumn(d.MissedCost) + " more"
	}
	var rows markup.Nodes
	for _, r := range d.Reasons {
		rows = append(rows, pageRow(pageBar(r.Share), r.Name, strconv.Itoa(r.Requests), tokens(r.Tokens), costColumn(r.Cost)))
	}
	return markup.Nodes{
		pageSection("Why the cache was missed"),
		markup.Leaf("p", "dim", about+"."),
		pageTable(rows, "Reason", "Requests", "Tokens", "Cost"),
	}
}

func (d *statsData) groupTables() (out markup.Nodes) {
	for _, g := range d.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		var rows markup.Nodes
		for _, l := range g.Rows {
			rows = append(rows, pageRow(pageBar(l.Share), l.Name, figureCells(l.Sum)...))
		}
		out = append(out, pageSection(g.Name), pageTable(rows, figureNames(g.Name)...))
		if g.More > 0 {
			out = append(out, markup.Leaf("p", "dim", fmt.Sprintf("and %d more", g.More)))
		}
	}
	return out
}

func (d *statsData) toolTable() markup.Node {
	if len(d.Tools) == 0 {
		return nil
	}
	var rows markup.Nodes
	for _, r := range d.Tools {
		rows = append(rows, pageRow(pageBar(float64(r.Calls)/float64(max(d.MaxCalls, 1))), keyWords("tool", r),
			strconv.Itoa(r.Calls), strconv.Itoa(r.Failed), bytesWords(r.Bytes), bytesWords(r.Bytes/int64(max(r.Calls, 1)))))
	}
	return markup.Nodes{pageSection("Tools"), pageTable(rows, "Tool", "Calls", "Failed", "Results", "Each")}
}

// figureNames are the heads of the columns of figures, after the first.
func figureNames(first string) []string {
	return []string{first, "Requests", "Read anew", "From the cache", "Into it", "Hits", "Written", "Cost", "Missed"}
}

func figureCells(s ledger.Sum) []string {
	lost, _ := s.AllLost()
	u := s.Usage
	return []string{
		strconv.Itoa(s.Requests), tokens(u.Input), tokens(u.CacheRead), tokens(u.CacheWrite), percent(u.CacheHits()),
		tokens(u.Output + u.Reasoning), costColumn(u.Cost), tokens(lost),
	}
}

func pageSection(title string) markup.Node { return markup.El("h2", nil, markup.Text(title)) }

// pageBar is the look of a name with a bar behind it.
func pageBar(share float64) markup.Attrs { return markup.Class("bar").Share(share) }

// pageRow is a line of a table: a name, and its figures.
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

// scrolling is what may be wider than the page.
func scrolling(inside markup.Node) markup.Node {
	return markup.El("div", markup.Class("scroll").Set("tabindex", "0"), inside)
}
