package stats

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/markup"
	"github.com/tenon-agent/tenon/transcript"
)

// chart is one picture of the page: a bar for each day.
type chart struct {
	name  string
	words func(float64) string // for values
	top   float64              // the end of the scale; 0 fits the scale to the days
	bars  []series             // from the bottom to the top of a bar
}

// series is one part of every bar.
type series struct {
	class string
	name  string
	value func(ledger.Row) float64
}

func charts() []chart {
	count := func(n float64) string { return transcript.Tokens(int64(n)) }
	money := func(n float64) string {
		if n == 0 {
			return "$0"
		}
		return transcript.Dollars(n)
	}
	return []chart{
		{"Tokens by day", count, 0, []series{
			{"c1", "read from the cache", func(r ledger.Row) float64 { return float64(r.Usage.CacheRead) }},
			{"c2", "written to the cache", func(r ledger.Row) float64 { return float64(r.Usage.CacheWrite) }},
			{"c3", "sent without the cache", func(r ledger.Row) float64 { return float64(r.Usage.Input) }},
			{"c4", "written by the model", func(r ledger.Row) float64 { return float64(r.Usage.Output + r.Usage.Reasoning) }},
		}},
		{"Cost by day", money, 0, []series{
			{"c1", "US dollars", func(r ledger.Row) float64 { _, lost := r.AllLost(); return max(0, r.Usage.Cost-lost) }},
			{"c3", "of these, because of cache misses", func(r ledger.Row) float64 { _, lost := r.AllLost(); return min(lost, r.Usage.Cost) }},
		}},
		{"Share of the prompts that came from the cache", percent, 1, []series{
			{"c1", "from the cache", func(r ledger.Row) float64 { return r.Usage.CacheHits() }},
		}},
	}
}

// The size of a chart, in units of its view box.
const (
	chartWidth  = 720.0
	chartHeight = 220.0
	chartLeft   = 56.0
	chartBottom = 24.0
	chartTop    = 8.0
)

// draw returns the picture, and its content in words. If nothing happened, there is no picture.
func (c chart) draw(days []ledger.Row) (picture markup.Node, about string) {
	most, at := 0.0, days[0]
	for _, d := range days {
		n := 0.0
		for _, s := range c.bars {
			n += s.value(d)
		}
		if n > most {
			most, at = n, d
		}
	}
	if most == 0 {
		return nil, fmt.Sprintf("%s to %s; nothing on any day", days[0].Key, days[len(days)-1].Key)
	}
	about = fmt.Sprintf("%s to %s; the most is %s on %s", days[0].Key, days[len(days)-1].Key, c.words(most), at.Key)
	step := niceStep(most)
	if c.top == 0 {
		c.top = max(step*math.Ceil(most/step), step)
	} else {
		step = c.top / 4
	}
	return markup.El("svg", markup.Set("viewBox", fmt.Sprintf("0 0 %g %g", chartWidth, chartHeight)).
		Set("role", "img").Set("aria-label", c.name+": "+about), chartScale(c.top, step, c.words), dayBars(days, c.top, c.words, c.bars)), about
}

const chartBars = chartHeight - chartBottom - chartTop

// chartScale is the lines behind the bars, with their values.
func chartScale(top, step float64, words func(float64) string) (lines markup.Nodes) {
	for v := 0.0; v <= top*1.001; v += step {
		y := chartTop + chartBars*(1-v/top)
		lines = append(lines,
			markup.El("line", markup.Class("grid").Set("x1", chartLength(chartLeft)).Set("x2", chartLength(chartWidth)).
				Set("y1", chartLength(y)).Set("y2", chartLength(y))),
			markup.El("text", markup.Class("y").Set("x", chartLength(chartLeft-8)).Set("y", chartLength(y+4)), markup.Text(words(v))))
	}
	return lines
}

// dayBars is a bar for each day with its values as a title, and the dates below some of them.
func dayBars(days []ledger.Row, top float64, words func(float64) string, all []series) (out markup.Nodes) {
	slot := (chartWidth - chartLeft) / float64(len(days))
	every := max(1, int(math.Ceil(76/slot))) // days with a label, which has a width too
	for i, d := range days {
		x, y := chartLeft+slot*float64(i), chartTop+chartBars
		bar := markup.Nodes{markup.El("title", nil, markup.Text(dayWords(d, words, all)))}
		for _, s := range all {
			if h := chartBars * s.value(d) / top; h > 0 {
				y -= h
				bar = append(bar, rectangle(s.class, x+slot*0.1, y, min(slot*0.8, 44), h))
			}
		}
		out = append(out, markup.El("g", nil, bar, rectangle("hover", x, chartTop, slot, chartBars)))
		if i%every == 0 {
			out = append(out, markup.El("text", markup.Class("x").Set("x", chartLength(x+slot*0.1)).Set("y", chartLength(chartHeight-6)),
				markup.Text(d.Key[5:])))
		}
	}
	return out
}

func rectangle(class string, x, y, width, height float64) markup.Node {
	return markup.El("rect", markup.Class(class).Set("x", chartLength(x)).Set("y", chartLength(y)).
		Set("width", chartLength(width)).Set("height", chartLength(height)))
}

func chartLength(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

// dayWords is the title of a bar.
func dayWords(d ledger.Row, words func(float64) string, all []series) string {
	parts := []string{d.Key}
	for _, s := range all {
		parts = append(parts, words(s.value(d))+" "+s.name)
	}
	return strings.Join(parts, "\n")
}

// niceStep returns the distance of lines on a scale: 1, 2 or 5 times a power of ten.
func niceStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	raw := most / 4
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= raw {
			return n * unit
		}
	}
	return 10 * unit
}
