package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// unpack undoes the filters of a stream. What is damaged ends early; what is no text, such as a picture, is empty.
func (f *File) unpack(s *stream) []byte {
	filters, params := f.list(s.dict["Filter"]), f.list(s.dict["DecodeParms"])
	if n := f.name(s.dict["Filter"]); n != "" {
		filters, params = []any{n}, []any{s.dict["DecodeParms"]}
	}
	data := s.raw
	for i, filter := range filters {
		if i >= 8 {
			return nil
		}
		var p dict
		if i < len(params) {
			p = f.dict(params[i])
		}
		in := bytes.NewReader(data)
		switch f.name(filter) {
		case "FlateDecode", "Fl":
			r, err := zlib.NewReader(in)
			if err != nil {
				return nil
			}
			data = f.predict(f.readAll(r), p)
		case "LZWDecode", "LZW":
			data = f.predict(f.readAll(lzw.NewReader(in, lzw.MSB, 8)), p)
		case "ASCIIHexDecode", "AHx":
			l := lexer{f, append([]byte("<"), data...), 0}
			data = []byte(l.hex())
		case "ASCII85Decode", "A85":
			data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
			if end := bytes.IndexByte(data, '~'); end >= 0 {
				data = data[:end]
			}
			data = f.readAll(ascii85.NewDecoder(bytes.NewReader(data)))
		case "RunLengthDecode", "RL":
			data = f.readAll(&runs{in: in})
		default:
			return nil
		}
	}
	return data
}

// readAll reads what there is until something is wrong, within what is left of the memory.
func (f *File) readAll(r io.Reader) []byte {
	limit := min(maxStream, f.memory)
	data, _ := io.ReadAll(io.LimitReader(r, int64(limit)))
	f.memory -= len(data)
	if f.memory <= 0 && f.err == nil {
		f.err = errLimit
	}
	return data
}

// predict undoes what is done to tables before they are packed.
func (f *File) predict(data []byte, p dict) []byte {
	kind := int(f.number(p["Predictor"]))
	if kind < 2 {
		return data
	}
	or := func(key name, n float64) int {
		if v := f.number(p[key]); v >= 1 && v <= 1<<16 {
			n = v
		}
		return int(n)
	}
	colors, bits, columns := or("Colors", 1), or("BitsPerComponent", 8), or("Columns", 1)
	row, pixel := (colors*bits*columns+7)/8, max(1, colors*bits/8)
	if kind == 2 {
		for at := 0; bits == 8 && at+row <= len(data); at += row {
			for i := at + pixel; i < at+row; i++ {
				data[i] += data[i-pixel]
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	above := make([]byte, row)
	for len(data) > 1 {
		line := data[1:min(len(data), row+1)]
		unfilter(data[0], line, above, pixel)
		data = data[1+len(line):]
		out = append(out, line...)
		above = line
	}
	return out
}

// unfilter undoes a filter of PNG. above may be longer than the line, never shorter.
func unfilter(kind byte, line, above []byte, pixel int) {
	for i := range line {
		var left, corner int
		if i >= pixel {
			left, corner = int(line[i-pixel]), int(above[i-pixel])
		}
		up := int(above[i])
		switch kind {
		case 1:
			line[i] += byte(left)
		case 2:
			line[i] += byte(up)
		case 3:
			line[i] += byte((left + up) / 2)
		case 4:
			line[i] += byte(paeth(left, up, corner))
		}
	}
}

func paeth(a, b, c int) int {
	p := a + b - c
	da, db, dc := max(p-a, a-p), max(p-b, b-p), max(p-c, c-p)
	switch {
	case da <= db && da <= dc:
		return a
	case db <= dc:
		return b
	}
	return c
}

// runs reads run lengths.
type runs struct {
	in     *bytes.Reader
	copies int // bytes to be copied
	repeat int // times that last is repeated
	last   byte
}

func (r *runs) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case r.repeat > 0:
			r.repeat--
			p[n] = r.last
			n++
		case r.copies > 0:
			r.copies--
			if p[n], err = r.in.ReadByte(); err != nil {
				return n, err
			}
			n++
		default:
			length, err := r.in.ReadByte()
			if err != nil || length == 128 {
				return n, io.EOF
			}
			if length < 128 {
				r.copies = int(length) + 1
				continue
			}
			r.repeat = 257 - int(length)
			if r.last, err = r.in.ReadByte(); err != nil {
				return n, io.EOF
			}
		}
	}
	return n, nil
}
