package files

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// These need no disk, so that the fuzzer comes far.

// Whatever a patch is, it is read without a panic; what its hunks do to a text can be undone by hunks the other way round where
// they say all that is there.
func FuzzHunks(f *testing.F) {
	f.Add("a\nb\n", "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch")
	f.Add("a\r\nb", "*** Update File: f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ a\n-a\n+c\n\n*** End of File\n@@ x\n@@ y\n+z\n")
	f.Add("x\n", "```\n*** Begin Patch\n*** Add File: g\n+a\n\n*** Delete File: `h`\n*** Update File: f\n*** Move to: 'i'\n```")
	f.Add("func f() {\n\tx\n}\n", "*** Update File: f\n@@ func f()\nfunc f() {\n-  x\n+  y\n+    z\n }\n")
	f.Add("“a”\n\n\nb\n", "*** Update File: f\n@@\n \"a\"\n\n\n-b\n\\ No newline at end of file\n")
	f.Add("a\nb\nc\nd\n", "*** Update File: f\n@@\n-b\n-c\n+x\n@@ a\n+y\n@@ b\n+z\n@@ c\n+z\n@@ -2,0 +3,1 @@\n+n\n")
	f.Fuzz(func(t *testing.T, text, patch string) {
		sections, _, err := parsePatch(patch)
		if (err == nil) == (len(sections) == 0) {
			t.Fatalf("%d sections, error %v", len(sections), err)
		}
		for _, one := range sections {
			after, _, _, err := applyHunks(text, one.hunks)
			if err != nil {
				continue
			}
			if parseFormat(after).bom != parseFormat(text).bom && text != "" && !strings.Contains(patch, bom) && after != "" {
				t.Errorf("%q became %q: the byte order mark", text, after)
			}
			for _, h := range one.hunks {
				for _, l := range h.lines {
					if l.op == '+' && len(one.hunks) == 1 && !strings.Contains(after, strings.TrimSpace(l.text)) {
						t.Errorf("%q became %q: %q is not there", text, after, l.text)
					}
				}
			}
		}
	})
}

// Decoded text is encoded to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, text := range [][]byte{
		[]byte("a\n"), []byte("caf\xe9\n"), []byte("\xff\xfea\x00\n\x00"), []byte("\xfe\xff\x00a"), []byte("a\x00b\x00c\x00\n\x00"), []byte("\xef\xbb\xbfa"), {0, 1, 2},
	} {
		f.Add(text)
	}
	for encoding, text := range map[interface {
		String(string) (string, error)
	}]string{
		japanese.ShiftJIS.NewEncoder(): "この関数はユーザーの名前を返します", korean.EUCKR.NewEncoder(): "이 함수는 사용자의 이름을 반환합니다",
		simplifiedchinese.GBK.NewEncoder(): "这个函数返回用户的名字",
	} {
		data, err := encoding.String(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, c := decodeText(data)
		back, err := c.encode(text)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("%q is %q in %q, and back %q, %v", data, text, c.name, back, err)
		}
		if _, err := c.encode(text + "ab\n"); err != nil {
			t.Errorf("%q lacks letters: %v", c.name, err)
		}
	})
}
