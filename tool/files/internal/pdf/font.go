package pdf

import "golang.org/x/text/encoding/charmap"

type font struct {
	unicode *cmap       // from codes to text, if the file has one
	wide    bool        // a composite font: its codes have two bytes
	simple  [256]string // the text of a simple font
	widths  map[int]float64
	width   float64 // of other codes
}

// fontOf reads a font, once.
func (f *File) fontOf(v any) *font {
	if r, ok := v.(ref); ok {
		if known, ok := f.fonts[int(r)]; ok {
			return known
		}
		made := f.readFont(f.dict(v))
		f.fonts[int(r)] = made
		return made
	}
	return f.readFont(f.dict(v))
}

func (f *File) readFont(d dict) *font {
	f.spend(256)
	t := &font{widths: map[int]float64{}, width: 500}
	if s, ok := f.resolve(d["ToUnicode"]).(*stream); ok {
		t.unicode = f.readCMap(f.unpack(s))
	}
	if f.name(d["Subtype"]) == "Type0" {
		f.readComposite(t, d)
		return t
	}
	t.simple = f.simpleEncoding(d)
	first := int(f.number(d["FirstChar"]))
	for i, w := range f.list(d["Widths"]) {
		if i > 255 {
			break
		}
		t.widths[first+i] = f.number(w)
	}
	return t
}

// readComposite reads the widths of a font with codes of two bytes.
func (f *File) readComposite(t *font, d dict) {
	t.wide, t.width = true, 1000
	kids := f.list(d["DescendantFonts"])
	if len(kids) == 0 {
		return
	}
	kid := f.dict(kids[0])
	if w, ok := f.resolve(kid["DW"]).(float64); ok {
		t.width = w
	}
	w := f.list(kid["W"])
	for i := 0; i+1 < len(w) && len(t.widths) < 1<<16 && f.spend(1); {
		first := int(f.number(w[i]))
		if list, ok := f.resolve(w[i+1]).([]any); ok {
			f.spend(len(list))
			for j, one := range list[:min(len(list), 1<<16)] {
				t.widths[first+j] = f.number(one)
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		last := min(int(f.number(w[i+1])), first+1<<16)
		f.spend(max(0, last-first))
		for code := first; code <= last && f.err == nil; code++ {
			t.widths[code] = f.number(w[i+2])
		}
		i += 3
	}
}

// simpleEncoding returns the text of each code of a font with codes of one byte.
func (f *File) simpleEncoding(d dict) (table [256]string) {
	base := f.name(d["Encoding"])
	e, _ := f.resolve(d["Encoding"]).(dict)
	if e != nil {
		base = f.name(e["BaseEncoding"])
	}
	m := charmap.Windows1252
	if base == "MacRomanEncoding" {
		m = charmap.Macintosh
	}
	for code := range 256 {
		if r := m.DecodeByte(byte(code)); code >= ' ' && (r < 0x7f || r > 0x9f) {
			table[code] = string(r)
		}
	}
	if base == "" && f.name(d["Subtype"]) == "Type1" {
		for code, s := range standard {
			table[code] = s
		}
	}
	code := 0
	for _, v := range f.list(e["Differences"]) {
		switch v := f.resolve(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				table[code] = glyph(string(v))
			}
			code++
		}
	}
	return table
}

// decode calls show for each code of a string.
func (t *font) decode(s text, show func(text string, width float64, space bool)) {
	for len(s) > 0 {
		n := 1
		if t.wide {
			n = min(2, len(s))
		}
		code := string(s[:n])
		s = s[n:]
		w, ok := t.widths[value(code)]
		if !ok {
			w = t.width
		}
		show(t.text(code), w, code == " ")
	}
}

func (t *font) text(code string) string {
	if t.unicode != nil {
		if s, ok := t.unicode.text(code); ok {
			return s
		}
	}
	if t.wide {
		return "\ufffd"
	}
	return t.simple[code[0]]
}
