package files_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// encoded are texts as they come, with an encoding that must be recognised.
var encoded = []struct {
	name     string
	encoding encoding.Encoding
	text     string
	lacks    string // a character that the encoding does not have
}{
	{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "\ufeffname = \"é 世界 😀\"\r\nsecond\r\n", ""},
	{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "\ufeffname\nsecond\n", ""},
	{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "[section]\nname=value é\nsecond\n", ""},
	{"UTF-16BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "[section]\nname=value\nsecond\n", ""},
	{"Windows-1252", charmap.Windows1252, "// Größe der Übergabe – «naïve» façade\nsecond\n", "ř"},
	{"Windows-1252", charmap.ISO8859_1, "El niño comió piñas el año pasado.\nsecond\n", "世"},
	{"GBK", simplifiedchinese.GBK, "// 这个函数返回用户的名字，如果没有就返回空\nsecond\n", "é́"},
	{"GBK", simplifiedchinese.GBK, "name = 中文 # 配置文件的默认值\nsecond\n", "😀"},
	{"Big5", traditionalchinese.Big5, "// 這個函數返回用戶的名字，如果沒有就返回空值\nsecond\n", "😀"},
	{"Shift-JIS", japanese.ShiftJIS, "// この関数はユーザーの名前を返します。\r\nsecond\r\n", "é"},
	{"EUC-JP", japanese.EUCJP, "// この関数はユーザーの名前を返します。\nsecond\n", "😀"},
	{"EUC-KR", korean.EUCKR, "// 이 함수는 사용자의 이름을 반환합니다.\nsecond\n", "é"},
}

func TestEncodings(t *testing.T) {
	for _, test := range encoded {
		t.Run(test.name, func(t *testing.T) {
			bytes := func(text string) string {
				out, err := test.encoding.NewEncoder().String(text)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			first, _, _ := strings.Cut(strings.TrimPrefix(test.text, "\ufeff"), "\n")
			first = strings.TrimSuffix(first, "\r")
			p := newProject(t, map[string]string{"f": bytes(test.text)})
			text, _, err := p.call("read", `{"path":"f"}`)
			if err != nil || !strings.HasPrefix(text, "1\t"+first+"\n") || !strings.Contains(text, "encoding "+test.name) {
				t.Fatalf("%q, %v, want %q", text, err, first)
			}
			if test.lacks != "" {
				p.fails("edit", editArguments(t, "second", test.lacks, false), "f: the file is in "+test.name+", which has no", "in line 2 of the new text")
				p.fails("write", `{"path":"f","content":"`+test.lacks+`"}`, "the file is in "+test.name)
			}
			p.ok("edit", editArguments(t, "second\n", "Third\n", false), "edited f: 1 line added, 1 removed")
			want := bytes(strings.Replace(test.text, "second", "Third", 1))
			if got := p.get("f"); got != want {
				t.Errorf("content %q, want %q", got, want)
			}
			p.ok("patch", patchArguments(t, envelope("*** Update File: f\n-Third\n+second\n")), "edited f: 1 line added, 1 removed")
			if got := p.get("f"); got != bytes(test.text) {
				t.Errorf("content %q", got)
			}
			// All of it is replaced in the same encoding.
			text, _, err = p.call("write", `{"path":"f","content":"`+first[:2]+`\n"}`)
			if err != nil || !strings.Contains(text, "the file keeps its encoding: "+test.name) {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// If the encoding of a file is not certain, the model sees the bytes unchanged, and an edit leaves the bytes around it alone.
func TestEncodingsThatAreNotSure(t *testing.T) {
	russian, err := charmap.KOI8R.NewEncoder().String("// функция returns the name of the user, or nothing if there is none\nsecond\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"KOI8-R": russian, "one odd byte": "a\xff\nsecond\n", "cut in the middle": "世\xe4\xb8\nsecond\n", "control": "\x93\x81a\nsecond\n",
	} {
		p := newProject(t, map[string]string{"f": text})
		shown, _, err := p.call("read", `{"path":"f"}`)
		if err != nil || !strings.Contains(shown, "not UTF-8") {
			t.Errorf("%s: %q, %v", name, shown, err)
		}
		p.ok("edit", editArguments(t, "second", "third", false), "edited f: 1 line added, 1 removed")
		if got := p.get("f"); got != strings.Replace(text, "second", "third", 1) {
			t.Errorf("%s: content %q", name, got)
		}
	}
	for name, text := range map[string]string{
		"half a character of UTF-16": "\xff\xfea\x00b", "a lone surrogate": "\xff\xfe\x00\xd8a\x00", "NUL in UTF-16": "\xff\xfea\x00\x00\x00", "UTF-32": "\xff\xfe\x00\x00a\x00\x00\x00",
	} {
		p := newProject(t, map[string]string{"f": text})
		if shown, _, err := p.call("read", `{"path":"f"}`); err != nil || !strings.Contains(shown, "binary file") {
			t.Errorf("%s: %q, %v", name, shown, err)
		}
	}
}
