package pdf

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"io"

	"golang.org/x/image/tiff/lzw"
)

// unpack decodes a stream. Damaged data ends early. Data with other filters, such as an image, is empty.
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
		default:
			return nil
		}
	}
	return data
}

// readAll reads data up to an error, within the remaining memory.
func (f *File) readAll(r io.Reader) []byte {
	limit := min(maxStream, f.memory)
	data, _ := io.ReadAll(io.LimitReader(r, int64(limit)))
	f.memory -= len(data)
	if f.memory <= 0 && f.err == nil {
		f.err = errLimit
	}
	return data
}

// predict decodes the predictors of PNG.
func (f *File) predict(data []byte, p dict) []byte {
	if f.number(p["Predictor"]) < 10 {
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

// unfilter decodes a filter of PNG. above is at least as long as the line.
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
