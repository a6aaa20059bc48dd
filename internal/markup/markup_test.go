package markup_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/tenon-agent/tenon/internal/markup"
)

// hostile are texts that want to be more than text.
var hostile = []string{
	`<script>alert(1)</script>`, `</title></p></section><img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `' onfocus='alert(1)' x='`,
	"` onclick=alert(1) x=`", ` onload=alert(1) `, `&lt;script&gt;`, `&#60;script&#62;`, `&quot; onclick=x`, `-->`, `<!--`, `]]>`, `{{.}}`,
	"\x00<\x00script>", "a\x00b", "\n\t\r<b\n>", `/><b>`, `=`, `>`, `javascript:alert(1)`, "<plaintext>", "\u202e<b>", "",
}

// written is what becomes of nodes.
func written(t testing.TB, nodes ...markup.Node) string {
	t.Helper()
	var b strings.Builder
	w := markup.NewWriter(&b)
	w.Write(nodes...)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parsed is the one element that a text of HTML has at its top.
func parsed(t testing.TB, text string) *xhtml.Node {
	t.Helper()
	nodes, err := xhtml.ParseFragment(strings.NewReader(strings.TrimSuffix(text, "\n")), &xhtml.Node{Type: xhtml.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != 1 {
		t.Fatalf("%s is %d nodes, want 1", text, len(nodes))
	}
	return nodes[0]
}

// heard is a text as a browser gives it back.
func heard(text string) string {
	return strings.NewReplacer("\x00", "\uFFFD", "\r\n", "\n", "\r", "\n").Replace(text)
}

// holds checks that a text came out whole: as the value of attributes, and as the text within an element that holds nothing else.
func holds(t testing.TB, text string) {
	t.Helper()
	out := written(t, markup.El("p", markup.Class("x", text).Set("id", text).Set("title", text), markup.Leaf("b", text, text)))
	p := parsed(t, out)
	want := map[string]string{"class": "x " + heard(text), "id": heard(text), "title": heard(text)}
	if text == "" {
		want["class"] = "x"
	}
	if len(p.Attr) != len(want) {
		t.Fatalf("%q: <p> has the attributes %v", text, p.Attr)
	}
	for _, a := range p.Attr {
		if a.Val != want[a.Key] {
			t.Errorf("%q: the attribute %s is %q", text, a.Key, a.Val)
		}
	}
	b := p.FirstChild
	if b == nil || b.Data != "b" || b.NextSibling != nil || len(b.Attr) != 1 || b.Attr[0].Val != heard(text) {
		t.Fatalf("%q: <p> holds something else: %s", text, out)
	}
	inside := ""
	if b.FirstChild != nil {
		inside = b.FirstChild.Data
		if b.FirstChild.Type != xhtml.TextNode || b.FirstChild.NextSibling != nil {
			t.Fatalf("%q: <b> holds more than a text: %s", text, out)
		}
	}
	if inside != heard(text) {
		t.Errorf("%q: the text is %q", text, inside)
	}
}

func TestNothingBreaksOut(t *testing.T) {
	for _, text := range hostile {
		holds(t, text)
	}
}

func FuzzNothingBreaksOut(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, text) })
}

// Where browsers read text with escapes and nothing else, the escapes are read too.
func TestTitle(t *testing.T) {
	for _, text := range hostile {
		n := parsed(t, written(t, markup.El("title", nil, markup.Text(text))))
		if got := n.FirstChild; n.Data != "title" || n.NextSibling != nil || got == nil && text != "" || got != nil && got.Data != heard(text) {
			t.Errorf("%q: the title is %+v", text, got)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"#e12": "#e12", "https://example.org/?a=1&b=\"": "https://example.org/?a=1&b=\"", "HTTP://example.org": "HTTP://example.org",
		"mailto:a@example.org": "mailto:a@example.org",

		"javascript:alert(1)": "#", "JaVaScRiPt:alert(1)": "#", " javascript:alert(1)": "#", "java\nscript:alert(1)": "#",
		"\x00javascript:alert(1)": "#", "vbscript:x": "#", "data:text/html,<script>": "#", "data:image/svg+xml,x": "#", "file:///etc/passwd": "#",
		"//example.org": "#", "/a": "#", "a.html": "#", "blob:x": "#", "": "#", " https://example.org": "#",
	} {
		n := parsed(t, written(t, markup.El("a", markup.Set("href", address))))
		if len(n.Attr) != 1 || n.Attr[0].Val != want {
			t.Errorf("%q leads to %v, want %q", address, n.Attr, want)
		}
		if got := written(t, markup.El("img", markup.Set("src", address))); want == "#" && got != `<img src="#">` {
			t.Errorf("%q: %s", address, got)
		}
	}
}

func TestPictures(t *testing.T) {
	for _, mime := range []string{"image/svg+xml", "text/html", "", "image/PNG", `image/png" onerror="x`} {
		if _, ok := markup.Picture(mime, []byte("x"), ""); ok {
			t.Errorf("%q is a picture", mime)
		}
	}
	if _, ok := markup.Picture("image/png", nil, ""); ok {
		t.Error("nothing is a picture")
	}
	for _, text := range hostile {
		picture, ok := markup.Picture("image/png", []byte{0xfb, 0xff}, text)
		n := parsed(t, written(t, picture))
		if !ok || len(n.Attr) != 2 || n.Attr[0].Val != "data:image/png;base64,+/8=" || n.Attr[1].Val != heard(text) {
			t.Errorf("%q: %v, %v", text, ok, n.Attr)
		}
	}
}

// Text that cannot be escaped is an error, and nothing after it is written.
func TestMistakes(t *testing.T) {
	text := markup.Text("x")
	for name, write := range map[string]func(w *markup.Writer){
		"script":             func(w *markup.Writer) { w.Write(markup.El("script", nil, text)) },
		"style":              func(w *markup.Writer) { w.Open("style", nil); w.Close() },
		"iframe":             func(w *markup.Writer) { w.Write(markup.El("iframe", nil)) },
		"object":             func(w *markup.Writer) { w.Write(markup.El("object", nil, text)) },
		"animation":          func(w *markup.Writer) { w.Write(markup.El("set", markup.Set("attributeName", "href"))) },
		"onclick":            func(w *markup.Writer) { w.Write(markup.El("p", markup.Set("onclick", "x"))) },
		"style attribute":    func(w *markup.Writer) { w.Open("p", markup.Set("style", "x")); w.Close() },
		"srcset":             func(w *markup.Writer) { w.Write(markup.El("img", markup.Set("srcset", "x"))) },
		"content of img":     func(w *markup.Writer) { w.Write(markup.El("img", nil, text)) },
		"open img":           func(w *markup.Writer) { w.Open("img", nil); w.Close() },
		"end of a script":    func(w *markup.Writer) { w.Write(markup.Script("'</SCRIPT>'")) },
		"comment in a style": func(w *markup.Writer) { w.Write(markup.Style("<!-- x")) },
		"nothing to close":   func(w *markup.Writer) { w.Close() },
		"still open":         func(w *markup.Writer) { w.Open("p", nil) },
	} {
		var b strings.Builder
		w := markup.NewWriter(&b)
		write(w)
		w.Write(markup.Text("after it"))
		if err := w.Flush(); err == nil || !strings.HasPrefix(err.Error(), "markup: ") || b.Len() > 0 {
			t.Errorf("%s: %v, and %q is written", name, err, b.String())
		}
	}
}

// full is a writer that has no room.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriterFails(t *testing.T) {
	w := markup.NewWriter(full{})
	for range 10_000 {
		w.Write(markup.Leaf("p", "x", "some words"))
	}
	if err := w.Err(); !errors.Is(err, errFull) {
		t.Errorf("writing much: %v", err)
	}
	w = markup.NewWriter(full{})
	w.Write(markup.Text("x"))
	if err := w.Flush(); !errors.Is(err, errFull) || !errors.Is(w.Err(), errFull) {
		t.Errorf("writing little: %v, %v", err, w.Err())
	}
}

// Attributes that are continued in two ways do not share what is added.
func TestAttrsAreValues(t *testing.T) {
	base := markup.Class("a").Set("id", "b")
	one, two := base.Set("title", "one"), base.Set("title", "two")
	if got := written(t, markup.El("i", base), markup.El("i", one), markup.El("i", two)); got !=
		`<i class="a" id="b"></i><i class="a" id="b" title="one"></i><i class="a" id="b" title="two"></i>` {
		t.Error(got)
	}
}

// The writer does not keep the output.
func TestStreams(t *testing.T) {
	const total = 2 << 20
	var b strings.Builder
	w := markup.NewWriter(&b)
	w.Open("main", nil)
	for n := 0; n < total; n += 1000 {
		w.Write(markup.Text(strings.Repeat("x", 1000)))
		if n-b.Len() > 64<<10 {
			t.Fatalf("of %d bytes %d are written", n, b.Len())
		}
	}
}

// A drawing is made of the same pieces.
func TestDrawing(t *testing.T) {
	for _, text := range hostile {
		svg := parsed(t, written(t, markup.El("svg", markup.Set("viewBox", "0 0 1 1").Set("aria-label", text),
			markup.El("g", nil, markup.El("title", nil, markup.Text(text)), markup.El("rect", markup.Set("x", text))),
			markup.Leaf("text", "x", text))))
		var names []string
		said := ""
		for n := range svg.Descendants() {
			if n.Type == xhtml.ElementNode {
				names = append(names, n.Data)
			} else {
				said += n.Data
			}
		}
		if got := strings.Join(names, " "); got != "g title rect text" {
			t.Errorf("%q: the drawing is made of %s", text, got)
		}
		if got, want := strings.Join(strings.Fields(said), ""), strings.Join(strings.Fields(heard(text+text)), ""); got != want {
			t.Errorf("the drawing says %q, want %q", got, want)
		}
	}
}

func TestShare(t *testing.T) {
	for share, want := range map[float64]string{0.1234: "12.3", 0: "0.0", 1: "100.0", -1: "0.0", 7: "100.0", math.NaN(): "0.0", math.Inf(1): "100.0"} {
		if got := written(t, markup.El("i", markup.Class("bar").Share(share))); got != `<i class="bar" style="--share: `+want+`%"></i>` {
			t.Errorf("%v: %s", share, got)
		}
	}
}

func Example() {
	w := markup.NewWriter(os.Stdout)
	w.Write(markup.Trusted("<!doctype html>\n"))
	w.Open("main", markup.Set("id", "main"))
	for _, said := range []string{"1 < 2 & 3", `</main><script>alert("x")</script>`} {
		w.Write(markup.El("p", markup.Class("said").Set("title", said), markup.Leaf("b", "who", "You"), markup.Text(": "+said)))
	}
	w.Write(markup.El("a", markup.Set("href", "javascript:alert(1)"), markup.Text("a link")), markup.Text("\n"))
	w.Close()
	if err := w.Flush(); err != nil {
		panic(err)
	}
	// Output:
	// <!doctype html>
	// <main id="main">
	// <p class="said" title="1 &lt; 2 &amp; 3"><b class="who">You</b>: 1 &lt; 2 &amp; 3</p>
	// <p class="said" title="&lt;/main&gt;&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;"><b class="who">You</b>: &lt;/main&gt;&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;</p>
	// <a href="#">a link</a>
	// </main>
}
