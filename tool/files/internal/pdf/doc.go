// Package pdf extracts the text of PDF files, page by page.
//
// Files are untrusted, so the package bounds the depth of objects, the unpacked bytes of streams, and the steps of a page. It ignores the
// cross-reference tables and scans the file for objects, so it also reads damaged files. It does not decrypt.
package pdf

import (
	"context"
	"errors"
	"fmt"
)

// ErrEncrypted reports that the file needs a key.
var ErrEncrypted = errors.New("the PDF is encrypted")

var (
	errLimit  = errors.New("the PDF takes too much time or memory to read")
	errNoPage = errors.New("the PDF has no readable pages")
)

const (
	maxDepth    = 64         // of objects, the tree of pages, and forms within forms
	maxSteps    = 12_000_000 // tokens of one file: some seconds
	maxForms    = 5000       // of one page
	maxUnpacked = 128 << 20  // unpacked bytes of all streams of a file
	maxStream   = 32 << 20   // unpacked bytes of one stream
	maxPages    = 20_000
	maxText     = 4 << 20 // bytes of one page
)

// File is an open PDF file. It is not safe for concurrent use.
type File struct {
	data     []byte
	places   map[int]place
	cache    map[int]any
	loading  map[int]bool
	unpacked map[int][]byte // object streams
	fonts    map[int]*font
	pages    []dict

	ctx    context.Context
	steps  int // left
	ticks  int
	memory int // bytes left
	err    error
}

// Open finds the pages of a file. The caller must not change the data.
func Open(ctx context.Context, data []byte) (f *File, err error) {
	f = &File{
		data: data, places: map[int]place{}, cache: map[int]any{}, loading: map[int]bool{}, unpacked: map[int][]byte{},
		fonts: map[int]*font{}, steps: maxSteps, memory: maxUnpacked,
	}
	err = f.guard(ctx, func() error {
		trailers := f.index()
		if f.err != nil {
			return f.err
		}
		return f.findPages(trailers)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Pages returns the number of pages.
func (f *File) Pages() int { return len(f.pages) }

// Page returns the text of a page, numbered from 1. Characters without a known meaning are U+FFFD.
func (f *File) Page(ctx context.Context, number int) (text string, err error) {
	err = f.guard(ctx, func() error {
		text = f.pageText(f.pages[number-1])
		return f.err
	})
	return text, err
}

// guard runs a function with a context. It turns a panic on an unforeseen file into an error.
func (f *File) guard(ctx context.Context, run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the PDF is damaged: %v", r)
		}
	}()
	f.ctx = ctx
	return run()
}

// spend counts steps. If it returns false, all work must end.
func (f *File) spend(n int) bool {
	if f.err != nil {
		return false
	}
	f.steps -= n
	if f.ticks++; f.steps < 0 {
		f.err = errLimit
	} else if f.ticks%4096 == 0 && f.ctx.Err() != nil {
		f.err = context.Cause(f.ctx)
	}
	return f.err == nil
}
