package web

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// mediaType is what a body is: as its server says or, where that says nothing, as it looks. The charset is the server's.
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

// printable keeps a foreign word short and in one line.
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

// decode makes UTF-8 of a body: by its byte order mark, by what its server says, by what it says of itself, else by looks. A
// body that is UTF-8 beyond doubt is not taken for anything else.
func decode(body []byte, kind, label string) (text, name string) {
	head := []byte(nil) // what may speak for itself
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

// trimRune takes an unfinished rune from the end, where a body was cut.
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

// escapes reports whether ASCII may stand for more, as in ISO-2022-JP and UTF-16.
func escapes(body []byte) bool {
	return bytes.Contains(body, []byte("\x1b$")) || bytes.IndexByte(body, 0) >= 0
}
