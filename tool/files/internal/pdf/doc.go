// Package pdf takes the text out of PDF files, page by page.
//
// Files come from anywhere, so everything is bounded whatever they say: the depth of objects, the bytes that streams unpack to, the
// steps that a page takes. Nothing of the tables at a file's end is believed; objects are found by looking through the file,
// which reads damaged files too. There is no decryption.
package pdf

import (
	"context"
	"errors"
	"fmt"
)

// ErrEncrypted is the error for a file that cannot be read without its key.
var ErrEncrypted = errors.New("the PDF is encrypted")

var (
	errLimit  = errors.New("the PDF takes too much time or memory to read")
	errNoPage = errors.New("the PDF has no pages that can be found")
)

const (
	maxDepth    = 64         // of objects, the tree of pages, and forms within forms
	maxSteps    = 12_000_000 // tokens read of one file: some seconds
	maxForms    = 5000       // painted on one page
	maxUnpacked = 128 << 20  // bytes that all streams of one file may unpack to
	maxStream   = 32 << 20   // and one of them
	maxPages    = 20_000
	maxText     = 4 << 20 // bytes of one page
)

// File is an opened PDF file. It is used by one goroutine at a time.
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

// Open finds the pages of a file. The data must not change while the file is used.
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

// Pages is the number of pages.
func (f *File) Pages() int { return len(f.pages) }

// Page returns the text of a page, numbered from 1. Characters whose meaning the file does not tell are U+FFFD.
func (f *File) Page(ctx context.Context, number int) (text string, err error) {
	err = f.guard(ctx, func() error {
		text = f.pageText(f.pages[number-1])
		return f.err
	})
	return text, err
}

// guard runs f with a context. A mistake of ours in front of a file that nobody has thought of is an error, not the end.
func (f *File) guard(ctx context.Context, run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the PDF is damaged: %v", r)
		}
	}()
	f.ctx = ctx
	return run()
}

// spend counts what is done; when it returns false, all work ends.
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
