package export_test

import (
	"io"
	"strings"
	"testing"

	xhtml "golang.org/x/net/html"

	"github.com/tenon-agent/tenon/internal/export"
)

func FuzzPage(f *testing.F) {
	for _, text := range []string{hostile, "# a\n\n- [ ] b\n\n|a|b|\n|-|-|\n|`|`|", "```\n<script>", strings.Repeat("> ", 200), strings.Repeat("[a](", 500), "<!-- x", "&#x3c;script>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		out := page(t, everywhere(text), export.Options{})
		scripts := 0
		for z := xhtml.NewTokenizer(strings.NewReader(out)); ; {
			kind := z.Next()
			if kind == xhtml.ErrorToken {
				if z.Err() != io.EOF {
					t.Fatal(z.Err())
				}
				break
			}
			token := z.Token()
			if kind != xhtml.StartTagToken && kind != xhtml.SelfClosingTagToken {
				continue
			}
			switch token.Data {
			case "script":
				scripts++
			case "iframe", "object", "embed", "form", "base", "link", "svg", "math":
				t.Fatalf("there is a <%s>", token.Data)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcset" || a.Key == "ping" {
					t.Fatalf("<%s> has %s=%q", token.Data, a.Key, a.Val)
				}
				v := strings.ToLower(strings.TrimSpace(a.Val))
				if (a.Key == "href" || a.Key == "src") && (strings.HasPrefix(v, "javascript:") || strings.HasPrefix(v, "data:text")) {
					t.Fatalf("<%s> has %s=%q", token.Data, a.Key, a.Val)
				}
			}
		}
		if scripts != 1 {
			t.Fatalf("there are %d scripts", scripts)
		}
		markdown(t, everywhere(text), export.Options{})
	})
}
