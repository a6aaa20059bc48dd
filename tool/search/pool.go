package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/tool/search/internal/lines"
	"github.com/tenon-agent/tenon/workspace"
)

// The bytes of one read.
const (
	minRead = 256 << 10
	maxRead = 1 << 20
)

// maxJob is the most files of a job. The first jobs have fewer, so that all workers begin at once.
const maxJob = 32

// job is consecutive files to search, and the channel for their hits.
type job struct {
	files []file
	done  chan []hits
}

// file is a file, or an unreadable directory.
type file struct {
	entry workspace.Entry
	err   error
}

// run searches files concurrently and shows the hits in the order of the walk. It stops when it has counted enough.
func (g *grep) run(parent context.Context) error {
	ctx, cancel := context.WithCancel(parent)
	workers := min(runtime.GOMAXPROCS(0), 8)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	todo := make(chan job)
	ordered := make(chan job, 4*workers) // bounds the lead of the search over the result
	all.Go(func() {
		defer close(ordered)
		defer close(todo)
		g.walk(ctx, todo, ordered)
	})
	for range workers {
		all.Go(func() {
			w := worker{grep: g, searcher: g.pattern.Searcher()}
			for j := range todo {
				j.done <- w.do(ctx, j.files)
			}
		})
	}
	for j := range ordered {
		select {
		case found := <-j.done:
			for _, h := range found {
				if ctx.Err() == nil && !g.show(h) {
					return nil
				}
			}
		case <-ctx.Done():
			return context.Cause(parent)
		}
	}
	if parent.Err() != nil {
		return context.Cause(parent)
	}
	return nil
}

func (g *grep) walk(ctx context.Context, todo, ordered chan<- job) {
	var files []file
	size := 1
	send := func() bool {
		j := job{files, make(chan []hits, 1)}
		for _, c := range []chan<- job{ordered, todo} {
			select {
			case c <- j:
			case <-ctx.Done():
				return false
			}
		}
		size = min(size+1, maxJob)
		files = make([]file, 0, size)
		return true
	}
	for entry, err := range g.ws.Walk(ctx, g.start, workspace.WalkOptions{}) {
		if err == nil && (!entry.Type.IsRegular() || !g.wants(entry.Path)) {
			continue
		}
		if files = append(files, file{entry, err}); len(files) >= size && !send() {
			return
		}
	}
	if len(files) > 0 {
		send()
	}
}

// worker searches files one by one in the same memory.
type worker struct {
	*grep
	searcher *lines.Searcher
	data     []byte
}

// do searches files. Once its hits exceed the limits of the result, it only counts.
func (w *worker) do(ctx context.Context, files []file) []hits {
	var out []hits
	matches, size := 0, 0
	for _, f := range files {
		if ctx.Err() != nil || matches >= w.count {
			break
		}
		h := w.one(ctx, f, w.full.Load() || matches > w.limits.matches || size > w.text)
		out = append(out, h)
		matches, size = matches+h.matches, size+h.size
	}
	return out
}

func (w *worker) one(ctx context.Context, f file, only bool) hits {
	path := f.entry.Path
	if f.err != nil {
		return hits{path: cmp.Or(path, ".") + "/", skipped: f.err}
	}
	data, err := w.read(ctx, f.entry)
	switch {
	case errors.Is(err, errBinary):
		return hits{path: path}
	case err != nil:
		return hits{path: path, skipped: err}
	}
	return w.search(ctx, w.searcher, path, data, only)
}

var (
	errBinary = errors.New("binary")
	errLarge  = fmt.Errorf("larger than %d MB", maxFile>>20)
)

// read reads a file up to maxFile. The next read overwrites the data.
func (w *worker) read(ctx context.Context, entry workspace.Entry) ([]byte, error) {
	f, size, err := w.ws.OpenEntry(entry)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxFile {
		return nil, errLarge
	}
	w.data = slices.Grow(w.data[:0], max(minRead, int(size)+1))
	for {
		if len(w.data) == cap(w.data) {
			w.data = slices.Grow(w.data, minRead) // it has grown, or its size is unknown
		}
		n, err := f.Read(w.data[len(w.data):min(cap(w.data), len(w.data)+maxRead)])
		first := len(w.data) == 0
		w.data = w.data[:len(w.data)+n]
		switch {
		case first && bytes.IndexByte(w.data[:min(n, 8<<10)], 0) >= 0:
			return nil, errBinary
		case len(w.data) > maxFile:
			return nil, errLarge
		case err == io.EOF:
			return w.data, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}
