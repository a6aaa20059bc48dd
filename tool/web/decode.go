package web

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// mediaType returns the media type of a body: from the header or, if that is not specific, from the content. The charset is from the
// header.
func mediaType(header string, body []byte) (kind, label string) {
	kind, params, err := mime.ParseMediaType(header)
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(header, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if !strings.Contains(kind, "/") || kind == "application/octet-stream" || kind == "application/x-unknown" {
		found, _, _ := mime.ParseMediaType(http.DetectContentType(body))
		if strings.HasPrefix(found, "text/") || kind == "" || strings.HasPrefix(found, "image/") {
			kind = found
		}
	}
	return printable(kind), params["charset"]
}

// printable makes a foreign word short and ASCII.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), 100)]
}

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// decode converts a body to UTF-8: by its byte order mark, the header, its own declaration, or a guess. Valid UTF-8 beyond ASCII
// stays as it is.
func decode(body []byte, kind, label string) (text, name string) {
	head := []byte(nil) // the part that may declare a charset
	if isHTML(kind) || strings.HasSuffix(kind, "xml") {
		head = body[:min(len(body), 1024)]
	}
	mark := bytes.HasPrefix(body, []byte("\xfe\xff")) || bytes.HasPrefix(body, []byte("\xff\xfe"))
	plain := utf8.Valid(body) || len(body) == maxPage && utf8.Valid(trimRune(body))
	if known, _ := charset.Lookup(label); known == nil {
		label = ""
	}
	switch {
	case mark:
		head = body[:2]
	case plain && (!ascii(body) || !escapes(body)):
		return strings.TrimPrefix(strings.ToValidUTF8(string(body), "\ufffd"), "\ufeff"), "utf-8"
	case label == "" && head == nil:
		label = "windows-1252"
	}
	content := ""
	if label != "" {
		content = "text/plain; charset=" + label
	}
	encoding, name, _ := charset.DetermineEncoding(head, content)
	out, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		out = body
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(out), "\ufffd"), "\ufeff"), name
}

// trimRune removes an incomplete rune at the end of a cut body.
func trimRune(body []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(body); i++ {
		if b := body[len(body)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				return body[:len(body)-i]
			}
			break
		}
	}
	return body
}

func ascii(body []byte) bool {
	for _, b := range body {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// escapes reports whether ASCII may encode other characters, as in ISO-2022-JP and UTF-16.
func escapes(body []byte) bool {
	return bytes.Contains(body, []byte("\x1b$")) || bytes.IndexByte(body, 0) >= 0
}
