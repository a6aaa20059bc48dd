package lsp_test

import (
	"bufio"
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool/lsp"
)

// FuzzReadFrame checks that a message never is longer than its limit, and that what was read is what follows the empty line.
func FuzzReadFrame(f *testing.F) {
	for _, seed := range []string{"Content-Length: 2\r\n\r\n{}", "content-length:3\n\n{} ", "Content-Length: 9\r\n\r\n{}", "X: y\r\n\r\n", "Content-Length: -1\r\n\r\n", "\r\n", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		body, err := lsp.ReadFrame(bufio.NewReaderSize(bytes.NewReader(data), 4096))
		if err == nil && !bytes.Contains(data, append([]byte("\n"), body...)) {
			t.Errorf("%q gives %q", data, body)
		}
	})
}

// FuzzMessages checks that no message of a server does harm.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"method":"textDocument/publishDiagnostics","params":{"uri":"file:///p/a.go","version":1,"diagnostics":[{"range":{"start":{"line":-1,"character":1e9}},"message":"x"}]}}`,
		`{"id":1,"result":null}`, `{"id":"x","method":"workspace/configuration","params":{"items":[{}]}}`, `{"id":{},"error":{"code":1e99}}`, `[]`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		framed := append([]byte("Content-Length: "+strconv.Itoa(len(data))+"\r\n\r\n"), data...)
		lsp.Receive(string(filepath.Separator)+"p", framed)
	})
}

// FuzzPositions checks that each offset at the start of a character survives the way to a position and back, and that no position is outside of the text.
func FuzzPositions(f *testing.F) {
	f.Add("a\n𐐀b\r\nü", 3, 1, 2)
	f.Add("\xff\n", 1, -1, 1<<30)
	f.Fuzz(func(t *testing.T, text string, at, line, character int) {
		for _, bytes := range []bool{true, false} {
			if got := lsp.Offset(text, line, character, bytes); got < 0 || got > len(text) {
				t.Errorf("%d:%d of %q is at %d", line, character, text, got)
			}
			if at < 0 || at > len(text) || at < len(text) && !utf8.RuneStart(text[at]) || strings.ContainsRune(text, '\r') || !utf8.ValidString(text) {
				continue
			}
			l, c := lsp.PositionAt(text, at, bytes)
			if got := lsp.Offset(text, l, c, bytes); got != at {
				t.Errorf("%d of %q is %d:%d and then %d", at, text, l, c, got)
			}
		}
	})
}

func TestAddressesOfFiles(t *testing.T) {
	for _, name := range []string{"/a/b.go", "/a b/ü#?%.go"} {
		name = filepath.FromSlash(name)
		if filepath.VolumeName(t.TempDir()) != "" {
			name = filepath.VolumeName(t.TempDir()) + name
		}
		if got := lsp.Path(lsp.URI(name)); got != name {
			t.Errorf("%q becomes %q and then %q", name, lsp.URI(name), got)
		}
	}
	for _, uri := range []string{"", "http://x/y", "file:", "untitled:1", "file://%zz"} {
		if got := lsp.Path(uri); got != "" {
			t.Errorf("%q is %q", uri, got)
		}
	}
}
