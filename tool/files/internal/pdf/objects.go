package pdf

import (
	"bytes"
	"maps"
	"slices"
)

// place is the place of an object: after "obj" in the file, or in an object stream.
type place struct {
	offset int
	in     int // the number of the stream; 0: in the file
}

// index scans the file for objects. The last object of a number counts. It returns the dictionaries that may name the root.
func (f *File) index() (trailers []dict) {
	var packed []int
	number, begins := 0, 0 // the current object, if begins is not 0
	for at := 0; at < len(f.data); {
		next := bytes.IndexAny(f.data[at:min(len(f.data), at+1<<16)], "ost")
		if !f.spend(1) {
			return nil
		}
		if next < 0 {
			at += 1 << 16
			continue
		}
		at += next
		switch rest := f.data[at:]; {
		case bytes.HasPrefix(rest, []byte("obj")):
			if n, ok := f.numberBefore(at); ok {
				number, begins = n, at+len("obj")
				f.places[n] = place{offset: begins}
			}
		case bytes.HasPrefix(rest, []byte("stream")) && begins != 0:
			// The data may contain anything: skip it.
			d, end := f.streamAt(begins, at)
			switch begins = 0; d["Type"] {
			case name("ObjStm"):
				packed = append(packed, number)
			case name("XRef"):
				trailers = append(trailers, d)
			}
			at = max(at+1, end)
			continue
		case bytes.HasPrefix(rest, []byte("trailer")):
			l := lexer{f, f.data, at + len("trailer")}
			if v, _ := l.object(0); v != nil {
				if d, ok := v.(dict); ok {
					trailers = append(trailers, d)
				}
			}
		}
		at++
	}
	for _, number := range packed {
		f.indexPacked(number)
	}
	return trailers
}

// streamAt reads the dictionary of a stream between two offsets, and finds the end of the data that begins at the second.
func (f *File) streamAt(from, to int) (d dict, end int) {
	l := lexer{f, f.data[:to], from}
	v, _ := l.object(0)
	d, ok := v.(dict)
	if !ok {
		return nil, to
	}
	l = lexer{f, f.data, to}
	raw, _ := l.stream(d, false)
	return d, l.at + len(raw)
}

// numberBefore reads the number of "12 0 obj" backwards.
func (f *File) numberBefore(at int) (int, bool) {
	digits := func() (int, bool) {
		for at > 0 && space(f.data[at-1]) {
			at--
		}
		end := at
		for at > 0 && end-at < 9 && f.data[at-1] >= '0' && f.data[at-1] <= '9' {
			at--
		}
		l := lexer{f, f.data[:end], at}
		return l.number()
	}
	if _, ok := digits(); !ok {
		return 0, false
	}
	return digits()
}

// stream reads the data of a stream after its dictionary. Without a correct length, the data ends at "endstream".
func (l *lexer) stream(d dict, resolve bool) ([]byte, bool) {
	l.skip()
	rest, ok := bytes.CutPrefix(l.data[l.at:], []byte("stream"))
	if !ok {
		return nil, false
	}
	if after, ok := bytes.CutPrefix(rest, []byte("\r\n")); ok {
		rest = after
	} else if len(rest) > 0 && (rest[0] == '\n' || rest[0] == '\r') {
		rest = rest[1:]
	}
	l.at = len(l.data) - len(rest)
	length := d["Length"]
	if resolve {
		length = l.f.resolve(length)
	}
	if n, ok := length.(float64); ok && n >= 0 && int(n) <= len(rest) {
		if bytes.HasPrefix(bytes.TrimLeft(rest[int(n):min(len(rest), int(n)+32)], "\r\n \t"), []byte("endstream")) {
			return rest[:int(n)], true
		}
	}
	end := bytes.Index(rest, []byte("endstream"))
	if end < 0 {
		end = len(rest)
	}
	l.f.spend(end / 64)
	return rest[:end], true
}

// indexPacked finds the objects in an object stream. Objects in the file itself take precedence.
func (f *File) indexPacked(number int) {
	s, ok := f.load(number).(*stream)
	if !ok {
		return
	}
	data := f.unpack(s)
	f.unpacked[number] = data
	l := lexer{f, data, 0}
	first := int(f.number(s.dict["First"]))
	for range int(min(f.number(s.dict["N"]), 1e6)) {
		n, ok1 := l.number()
		offset, ok2 := l.number()
		if !ok1 || !ok2 || !f.spend(1) {
			return
		}
		if old, there := f.places[n]; !there || old.in != 0 {
			f.places[n] = place{offset: first + offset, in: number}
		}
	}
}

// load reads an object, once.
func (f *File) load(number int) any {
	if v, ok := f.cache[number]; ok {
		return v
	}
	p, ok := f.places[number]
	if !ok || f.loading[number] {
		return nil
	}
	f.loading[number] = true
	defer delete(f.loading, number)
	l := lexer{f, f.data, p.offset}
	if p.in != 0 {
		l.data = f.unpacked[p.in]
	}
	if p.offset < 0 || p.offset > len(l.data) {
		return nil
	}
	v, ok := l.object(0)
	if !ok {
		v = nil
	}
	if d, isDict := v.(dict); isDict && p.in == 0 {
		if raw, ok := l.stream(d, true); ok {
			v = &stream{d, raw}
		}
	}
	f.cache[number] = v
	return v
}

func (f *File) resolve(v any) any {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.load(int(r))
	}
	return nil
}

func (f *File) number(v any) float64 {
	n, _ := f.resolve(v).(float64)
	return n
}

func (f *File) dict(v any) dict {
	switch v := f.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (f *File) list(v any) []any {
	list, _ := f.resolve(v).([]any)
	return list
}

func (f *File) name(v any) name {
	n, _ := f.resolve(v).(name)
	return n
}

// findPages collects the pages of the tree.
func (f *File) findPages(trailers []dict) error {
	var root dict
	for _, t := range slices.Backward(trailers) {
		if t["Encrypt"] != nil {
			return ErrEncrypted
		}
		if r := f.dict(t["Root"]); root == nil && r["Pages"] != nil {
			root = r
		}
	}
	if root == nil {
		for _, n := range slices.Sorted(maps.Keys(f.places)) {
			if d := f.dict(ref(n)); f.name(d["Type"]) == "Catalog" {
				root = d
			}
		}
	}
	f.walk(root["Pages"], dict{}, map[ref]bool{}, 0)
	switch {
	case f.err != nil:
		return f.err
	case len(f.pages) == 0:
		return errNoPage
	}
	return nil
}

// walk collects pages with their inherited resources.
func (f *File) walk(v any, inherited dict, seen map[ref]bool, depth int) {
	if r, ok := v.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	d := f.dict(v)
	if d == nil || depth > maxDepth || len(f.pages) >= maxPages || !f.spend(1) {
		return
	}
	if r, ok := d["Resources"]; ok {
		inherited = dict{"Resources": r}
	}
	if kids, ok := f.resolve(d["Kids"]).([]any); ok {
		for _, kid := range kids {
			f.walk(kid, inherited, seen, depth+1)
		}
		return
	}
	f.pages = append(f.pages, dict{"Contents": d["Contents"], "Resources": inherited["Resources"]})
}
