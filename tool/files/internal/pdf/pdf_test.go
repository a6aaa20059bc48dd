package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// build writes a file of objects, numbered from 1; the first is the root.
func build(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "trailer\n<</Root 1 0 R /Size %d>>\nstartxref\n0\n%%%%EOF\n", len(objects)+1)
	return b.Bytes()
}

func streamOf(extra, data string) string {
	return fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", extra, len(data), data)
}

func deflate(data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(data))
	_ = w.Close()
	return b.String()
}

// page is a file of one page with a content and a font.
func page(content, font string, more ...string) []byte {
	return build(append([]string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>", content, font,
	}, more...)...)
}

const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"

func TestPageText(t *testing.T) {
	hello := "BT /F 12 Tf 72 700 Td (Hello) Tj 0 -14 Td (World) Tj ET"
	toUnicode := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n" +
		"2 beginbfchar <0001> <0048> <0002> <00660069> endbfchar 2 beginbfrange <0010> <0012> <4E16> <0020> <0021> [<0041> <D83DDE00>] endbfrange endcmap"
	tests := []struct {
		name, want string
		data       []byte
	}{
		{"lines", "Hello\nWorld", page(streamOf("", hello), helvetica)},
		{"packed", "Hello\nWorld", page(streamOf("/Filter/FlateDecode", deflate(hello)), helvetica)},
		{"hex and 85", "Hello\nWorld", page(streamOf("/Filter/ASCIIHexDecode", fmt.Sprintf("%x>", hello)), helvetica)},
		{"in two streams", "ab", build("<</Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Contents[4 0 R 5 0 R]/Resources<</Font<</F 6 0 R>>>>>>",
			streamOf("", "BT /F 1 Tf (a) Tj"), streamOf("", "(b) Tj ET"), helvetica)},
		{"spaces from gaps", "a b cd", page(streamOf("", "BT /F 10 Tf [(a) -600 (b) -600 (c) -20 (d)] TJ ET"), helvetica)},
		{"paragraphs", "a\n\nb", page(streamOf("", "BT /F 10 Tf 1 0 0 1 0 100 Tm (a) Tj 1 0 0 1 0 60 Tm (b) Tj ET"), helvetica)},
		{"next line operators", "a\nb\nc\nd", page(streamOf("", "BT /F 10 Tf 12 TL (a) Tj T* (b) Tj (c) ' 0 0 (d) \" ET"), helvetica)},
		{"strings", "a(b)\\ é\nA", page(streamOf("", `BT /F 10 Tf (a\(b\)\\ \351) Tj 0 -12 Td <4 1> Tj ET`), helvetica)},
		{"turned", "ab\nc", page(streamOf("", "BT /F 10 Tf 0 1 -1 0 50 50 Tm (a) Tj (b) Tj 0 -12 Td (c) Tj ET"), helvetica)},
		{"names of glyphs", "fiŽA€ž", page(streamOf("", "BT /F 10 Tf (abcde) Tj (z) Tj ET"),
			"<</Subtype/Type1/Encoding<</Differences[97/fi/Zcaron/A.sc/Euro/zcaron 122/g27]>>>>")},
		{"standard encoding", "’“fi", page(streamOf("", "BT /F 10 Tf ('\\252\\256) Tj ET"), "<</Subtype/Type1/BaseFont/Times-Roman>>")},
		{"Mac Roman", "é", page(streamOf("", "BT /F 10 Tf (\\216) Tj ET"), "<</Subtype/TrueType/Encoding/MacRomanEncoding>>")},
		{"a map of characters", "Hfi世丗A😀\ufffd", page(streamOf("", "BT /F 10 Tf <00010002001000110020002100FF> Tj ET"),
			"<</Subtype/Type0/Encoding/Identity-H/ToUnicode 6 0 R/DescendantFonts[<</DW 500/W[1[600 600] 16 17 500]>>]>>", streamOf("", toUnicode))},
		{"a form", "ab", page(streamOf("", "BT /F 10 Tf (a) Tj ET /X Do"), helvetica, streamOf("/Subtype/Form/Matrix[1 0 0 1 5 0]", "BT /F 10 Tf (b) Tj ET"))},
		{"an inline image", "ab", page(streamOf("", "BT /F 10 Tf (a) Tj ET BI /W 1 /H 1 ID (\x00Tj EIx EI BT /F 10 Tf 5 0 Td (b) Tj ET"), helvetica)},
		{"a wrong length", "Hello\nWorld", page("<</Length 3>>\nstream\n"+hello+"\nendstream", helvetica)},
		{"no end", "Hello\nWorld", bytes.TrimSuffix(page("<</Length 9999>>\nstream\n"+hello, helvetica), []byte("trailer"))},
		{"no contents", "", page("null", helvetica)},
		{"an object twice", "new", append(page(streamOf("", "BT /F 10 Tf (old) Tj ET"), helvetica), []byte("4 0 obj\n"+streamOf("", "BT /F 10 Tf (new) Tj ET")+"\nendobj\n")...)},
		{"another file within", "Hello\nWorld", page(streamOf("", hello), helvetica, streamOf("", "4 0 obj (x) endobj trailer <</Root 4 0 R>>"))},
		{"objects in a stream", "Hello\nWorld", packed(hello)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := Open(t.Context(), test.data)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := f.Page(t.Context(), 1); err != nil || text != test.want || f.Pages() != 1 {
				t.Errorf("%q, %v, %d pages; want %q", text, err, f.Pages(), test.want)
			}
		})
	}
}

// packed returns a file in the form that PDF 1.5 introduced: most objects are in a stream, and another stream names the root.
func packed(content string) []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Contents 6 0 R/Resources<</Font<</F 4 0 R>>>>>>", helvetica}
	var head, body strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&head, "%d %d ", i+1, body.Len())
		body.WriteString(o + " ")
	}
	return fmt.Appendf(nil, "%%PDF-1.5\n5 0 obj\n%s\nendobj\n6 0 obj\n%s\nendobj\n7 0 obj\n%s\nendobj\nstartxref\n0\n%%%%EOF",
		streamOf(fmt.Sprintf("/Type/ObjStm/N %d/First %d/Filter/FlateDecode", len(objects), head.Len()), deflate(head.String()+body.String())),
		streamOf("", content), streamOf("/Type/XRef/Root 1 0 R/W[1 1 1]", ""))
}

func TestPredictors(t *testing.T) {
	f := &File{steps: maxSteps, memory: maxUnpacked, ctx: t.Context()}
	want := []byte{1, 2, 3, 4, 5, 7, 9, 12}
	for name, test := range map[string]struct {
		data []byte
		p    dict
	}{
		"none":  {[]byte{0, 1, 2, 3, 4, 0, 5, 7, 9, 12}, dict{"Predictor": 12.0, "Columns": 4.0}},
		"sub":   {[]byte{1, 1, 1, 1, 1, 1, 5, 2, 2, 3}, dict{"Predictor": 12.0, "Columns": 4.0}},
		"up":    {[]byte{0, 1, 2, 3, 4, 2, 4, 5, 6, 8}, dict{"Predictor": 12.0, "Columns": 4.0}},
		"Paeth": {[]byte{4, 1, 1, 1, 1, 4, 4, 2, 2, 3}, dict{"Predictor": 12.0, "Columns": 4.0}},
	} {
		got := f.predict(bytes.Clone(test.data), test.p)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := f.predict([]byte{3, 2, 2, 3, 4, 4}, dict{"Predictor": 13.0, "Columns": 2.0}); !bytes.Equal(got, []byte{2, 3, 5, 8}) {
		t.Errorf("average: %v", got)
	}
}

func TestManyPages(t *testing.T) {
	objects := []string{"<</Pages 2 0 R>>", "<</Kids[3 0 R 4 0 R]/Count 99999999>>", "<</Kids[5 0 R 6 0 R 2 0 R]>>", "<</Contents 7 0 R>>", "<</Contents 7 0 R>>", "<<>>", streamOf("", "BT (x) Tj ET")}
	f, err := Open(t.Context(), build(objects...))
	if err != nil || f.Pages() != 3 {
		t.Errorf("%v, %v", f, err)
	}
}

func TestErrors(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want error
	}{
		"encrypted":    {[]byte("%PDF-1.7\n1 0 obj <</Pages 2 0 R>> endobj 2 0 obj <</Kids[3 0 R]>> endobj 3 0 obj <<>> endobj trailer <</Root 1 0 R/Encrypt 4 0 R>>"), ErrEncrypted},
		"nothing":      {nil, errNoPage},
		"no objects":   {[]byte("%PDF-1.7\n"), errNoPage},
		"no pages":     {build("<</Type/Catalog>>"), errNoPage},
		"nested":       {[]byte("%PDF-1.7\n1 0 obj " + strings.Repeat("[", 1<<20) + " stream\n"), errLimit},
		"nested dicts": {build("<</Pages 2 0 R>>", strings.Repeat("<</A", 1<<18)), errLimit},
	} {
		if f, err := Open(t.Context(), test.data); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, %v, want %v", name, f, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, bytes.Repeat([]byte("1 0 obj trailer "), 1<<16)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Files that are made to take all time and memory come to an end.
func TestHostileFiles(t *testing.T) {
	bomb := deflate(strings.Repeat("\x00", maxStream+8<<20))
	self := "BT /F 10 Tf (x) Tj ET " + strings.Repeat("/X Do ", 50)
	tests := map[string][]byte{
		"unpacks to much":      page(streamOf("/Filter/FlateDecode", bomb), helvetica),
		"often":                page("<</Length 1/Filter"+strings.Repeat("[/FlateDecode", 20)+">>\nstream\nx\nendstream", helvetica),
		"a form in itself":     page(streamOf("", self), helvetica, streamOf("/Subtype/Form", self)),
		"references in circle": build("2 0 R", "3 0 R", "1 0 R"),
		"objects in themselves": []byte("1 0 obj <</Type/ObjStm/N 9999999/First 5/Length 6 0 R>> stream\n1 0 1 0 1 0 endstream endobj " +
			"6 0 obj 6 0 R endobj 2 0 obj <</Type/ObjStm/Length 2 0 R/First 1 0 R/N 2 0 R>> stream\n1 0 1 0 1 0 endstream endobj trailer <</Root 1 0 R>>"),
		"many trailers":      bytes.Repeat([]byte("trailer "), 1<<18),
		"many objects":       bytes.Repeat([]byte("1 0 obj "), 1<<18),
		"many open strings":  bytes.Repeat([]byte("1 0 obj (stream "), 1<<18),
		"many open dicts":    bytes.Repeat([]byte("1 0 obj <<trailer "), 1<<17),
		"kids in themselves": build("<</Pages 2 0 R>>", "<</Kids["+strings.Repeat("2 0 R ", 1<<18)+"]>>"),
		"widths":             page(streamOf("", "BT /F 10 Tf (x) Tj ET"), "<</Subtype/Type0/DescendantFonts[<</W["+strings.Repeat("0 99999999 1 ", 1<<16)+"]>>]>>"),
		"a large map": page(streamOf("", "BT /F 10 Tf <0001> Tj ET"), "<</Subtype/Type0/ToUnicode 6 0 R>>",
			streamOf("", strings.Repeat("<0000> <ffff> <0000> endbfrange <00000000> <ffffffff> endcodespacerange ", 1<<14))),
		"numbers": build("<</Pages 2 0 R>>", "<</Kids[3 0 R]>>", "<</Contents 4 0 R>>", streamOf("/Filter/FlateDecode/DecodeParms<</Predictor 15/Columns 1e300/Colors -1>>", deflate("x y z"))),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			f, err := Open(t.Context(), data)
			if err != nil {
				t.Log(err)
				return
			}
			for i := range min(f.Pages(), 3) {
				text, err := f.Page(t.Context(), i+1)
				t.Logf("%d bytes, %v", len(text), err)
			}
		})
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(page(streamOf("", "BT /F 12 Tf 72 700 Td (Hello) Tj [(a) -500 <41>] TJ ET BI ID x EI"), helvetica))
	f.Add(packed("BT /F 10 Tf (x) ' ET"))
	f.Add(page(streamOf("", "BT /F 10 Tf <0001> Tj ET /X Do"), "<</Subtype/Type0/ToUnicode 6 0 R/DescendantFonts[<</W[1[2] 3 4 5]>>]>>",
		streamOf("/Subtype/Form", "<00> <10> [<41>] endbfrange <01> <0041> endbfchar")))
	f.Add(page(streamOf("/Filter[/ASCIIHexDecode/LZWDecode]/DecodeParms[null<</Predictor 12>>]", "800B6050220C0C8501>"), helvetica))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		file, err := Open(t.Context(), data)
		if err != nil {
			if strings.Contains(err.Error(), "damaged") {
				t.Fatal(err) // a mistake that guard caught
			}
			return
		}
		for i := range min(file.Pages(), 3) {
			if _, err := file.Page(t.Context(), i+1); err != nil && strings.Contains(err.Error(), "damaged") {
				t.Fatal(err)
			}
		}
	})
}
