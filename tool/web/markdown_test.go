package web

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func at(t testing.TB) *url.URL {
	u, err := url.Parse("https://example.org/docs/page.html")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestMarkdown(t *testing.T) {
	tests := []struct{ name, page, want string }{
		{"paragraphs", "<p>One\n  two.<p>Three &amp; four.</p>five", "One two.\n\nThree & four.\n\nfive"},
		{"headings", "<h1>A</h1><h3> B <b>c</b></h3><h2></h2><p>d", "# A\n\n### B **c**\n\nd"},
		{"emphasis", "a <b>b </b>c<i>d</i> <em></em>e <b><strong>f</strong></b>", "a **b** c*d* e **f**"},
		{
			"links", `<a href="/x">x</a> <a href="y?a=1#z">y</a> <a href="//h/">h</a> <a href="#top">top</a> <a href="javascript:x()">j</a> <a href="/e"></a>`,
			"[x](https://example.org/x) [y](https://example.org/docs/y?a=1#z) [h](https://h/) top j",
		},
		{"credentials in links", `<a href="https://u:p@h/">x</a>`, "[x](https://h/)"},
		{"parentheses in links", `<a href="/a_(b)">x</a>`, "[x](https://example.org/a_%28b%29)"},
		{"base", `<base href="https://other.org/d/"><a href="x">x</a>`, "[x](https://other.org/d/x)"},
		{"blocks in a link", `<a href="/x"><h2>Title</h2><p>more</p></a>`, "[Title more](https://example.org/x)"},
		{
			"images", `<img src="a.png" alt="A  cat"><img src="b.png"><img alt="dot" src="data:image/png;base64,xx">`,
			"![A cat](https://example.org/docs/a.png)![dot]",
		},
		{
			"lists", "<ul><li>a<li>b<ul><li>c</li></ul></li></ul><ol start=9><li><p>d</p><p>e</p><li>f</ol>g",
			"- a\n- b\n  - c\n\n9. d\n\n   e\n\n10. f\n\ng",
		},
		{"a list in an item at once", "<ul><li><ul><li>a</ul></ul>", "- \n  - a"},
		{"an empty item", "<ul><li></li><li>a</li></ul>", "- a"},
		{"quotes", "<blockquote><p>a</p><p>b<br>c</blockquote>d", "> a\n>\n> b\n> c\n\nd"},
		{"code", "<p>Run <code>go  vet</code> or <code>a`b</code>.", "Run `go vet` or ``a`b``."},
		{
			"blocks of code", "<pre><code class=\"language-go\">func f() {\n\t<span>return</span>\n}\n</code></pre>after",
			"```go\nfunc f() {\n\treturn\n}\n```\n\nafter",
		},
		{"pieces of code", "<pre><code class=language-js>a</code><code>b</code> <code>c</code></pre>", "```js\na\nb c\n```"},
		{"signs next to headings", `<h2>A<a class="headerlink" href="#a">¶</a></h2>`, "## A"},
		{"code in an item", "<ul><li>a<pre>b\nc</pre></ul>", "- a\n\n  ```\n  b\n  c\n  ```"},
		{"a fence in code", "<pre>```\nx</pre>", "````\n```\nx\n````"},
		{
			"a table", "<table><tr><th>A<th>B<tr><td>1|2<td><p>x</p><p>y</p><tr><td><td>z</table>",
			"| A | B |\n| --- | --- |\n| 1\\|2 | x y |\n| | z |",
		},
		{"tables for looks", "<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "| a | b |\n| --- | --- |\n\nc"},
		{"definitions", "<dl><dt>a</dt><dd>b</dd><dt>c<dd>d</dl>", "a\n: b\nc\n: d"},
		{"what is no content", "<head><title>T</title><style>x</style></head><script>1<2</script><nav>n</nav>a<aside>s</aside><div hidden>h</div>" +
			`<p style="display: none">i</p><svg><title>v</title></svg><select><option>o</select><footer>f</footer>`, "a"},
		{"a page that is hidden until its scripts ran", `<body style="display:none">a`, "a"},
		{"the main part", "<div>menu</div><main><p>text</p><footer>by me</footer></main><div>more</div>", "text\n\nby me"},
		{"a main part by its role", `<div>menu</div><div role=main>text</div>`, "text"},
		{"one article", "<div>menu</div><article>text</article>", "text"},
		{"several articles", "<article>a</article><article>b</article>", "a\nb"},
		{"a main part without the text", "<main>x</main><p>" + strings.Repeat("word ", 20), "x\n\n" + strings.TrimSpace(strings.Repeat("word ", 20))},
		{"stray ends", "</p></div>a</b><b>b</i></p>c</b>", "a**bc**"},
		{"what is left open", "<div><nav>n</div>a<table><tr><td>b", "a\n\n| b |\n| --- |"},
		{"comments", "a<!-- b --><![CDATA[c]]>d<!doctype x>e", "ade"},
		{"control characters", "a\x00b\x1b[31mc\x7f", "ab[31mc"},
		{"invalid UTF-8", "a\xffb", "a\ufffdb"},
		{"rules", "a<hr>b", "a\n\n---\n\nb"},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := markdown(t.Context(), test.page, at(t))
			if err != nil || got != test.want {
				t.Errorf("error %v, text\n%q, want\n%q", err, got, test.want)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	for page, want := range map[string]string{
		"<title> A\n &amp; B </title><h1>C</h1>":                "A & B",
		"<head><title>A</title><body><title>B</title>":          "AB",
		"<svg><title>no</title></svg>":                          "",
		"<title>" + strings.Repeat("x", 1000) + "</title><p>ok": strings.Repeat("x", maxTitle),
	} {
		if _, got, err := markdown(t.Context(), page, at(t)); err != nil || got != want {
			t.Errorf("%.40q: %q, error %v, want %q", page, got, err, want)
		}
	}
}

// Pages that take other converters minutes: each is read in time that grows with its size alone, into text that is bounded.
func TestLargePages(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxPage/8/len(s)) }
	for name, page := range map[string]string{
		"text":        fill("hello world "),
		"one word":    fill("x"),
		"marks":       fill("*_`["),
		"divs":        fill("<div>"),
		"bold":        fill("<b>x"),
		"links":       fill("<a href=x>y</a>"),
		"open links":  fill("<a href=x>y"),
		"quotes":      fill("<blockquote><p>x"),
		"list":        fill("<ul><li>x"),
		"items":       fill("<li>x"),
		"ends":        fill("</div></p></b>"),
		"table":       fill("<table><tr><td>x"),
		"cells":       "<table><tr>" + fill("<td>x"),
		"rows":        "<table>" + fill("<tr><td>x"),
		"pre":         "<pre>" + fill("x\n"),
		"quoted pre":  strings.Repeat("<blockquote>", 50) + "<pre>" + fill("x\n"),
		"pres":        fill("<pre>x</pre>"),
		"fences":      "<pre>" + fill("`"),
		"breaks":      fill("<br>"),
		"attributes":  "<div " + fill("a=1 ") + ">x",
		"an unclosed": "<div a='" + fill("x"),
		"long base":   "<base href='https://h/" + strings.Repeat("b", maxLink-100) + "/'>" + fill("<a href=x>y</a>"),
		"entities":    fill("&lt;&NotEqualTilde;"),
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := markdown(t.Context(), page, at(t))
			if err != nil || len(got) > maxMarkdown+64<<10 && len(got) > 3*len(page) {
				t.Errorf("error %v, %d bytes became %d", err, len(page), len(got))
			}
		})
	}
}

func TestMarkdownEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more time")
	cancel(why)
	if _, _, err := markdown(ctx, "<p>a", at(t)); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
}

// Whatever a page is, its text is valid, bounded, free of what only terminals understand, and the same each time.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"<p>a<b>b</p></b>", "<table><tr><td><table><tr><td>a|b</table><td><pre>c", "<ul><li><ol start=-1><li>x</ul>y", "<a href='x'><h1>a<a href=y>b",
		"<pre><code>`\n``</pre></code><code>`</code>", "<main><article role=main><nav><main></main>x", "<title><title></title>a", "<blockquote><ul><li><pre>a\nb",
		"\xff<p \xfe=\x00>\x1b", "<base href='ht!tp://['><a href='://'>x</a><img alt=a src=b>", "<dl><dd><dt>x<dd>y", "<x-a><x-b></x-a>z", "<textarea><p>a", "<plaintext><b>",
		"<td>a<th>b</table><tr><td>c", "<a href=x><table><tr><td>y</a>z",
	} {
		f.Add(seed)
	}
	base := at(f)
	f.Fuzz(func(t *testing.T, page string) {
		got, title, err := markdown(t.Context(), page, base)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(got) || !utf8.ValidString(title) || strings.ContainsAny(got+title, "\x00\x1b\x7f") {
			t.Fatalf("%q became %q, title %q", page, got, title)
		}
		if len(got) > 200+40*len(page) && !strings.Contains(page, "href") {
			t.Fatalf("%d bytes became %d", len(page), len(got))
		}
		if again, _, _ := markdown(t.Context(), page, base); again != got {
			t.Fatalf("%q became %q and then %q", page, got, again)
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	page := strings.Repeat("<p>hello <b>world</b> <a href=/x>link</a></p>\n<ul><li>a<li>b</ul>", 20_000)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := markdown(b.Context(), page, at(b)); err != nil {
			b.Fatal(err)
		}
	}
}
