package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/tenon-agent/tenon/workspace"
)

// job is a file to search and the place for what is found.
type job struct {
	entry workspace.Entry
	done  chan hits
}

// run searches files side by side and tells what is found in the order of the walk. It stops when there is no more room.
func (g *grep) run(parent context.Context) error {
	ctx, cancel := context.WithCancel(parent)
	workers := min(runtime.GOMAXPROCS(0), 8)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	todo := make(chan job)
	ordered := make(chan job, 4*workers) // how far the search runs ahead of what is told
	all.Go(func() {
		defer close(ordered)
		defer close(todo)
		g.walk(ctx, todo, ordered)
	})
	for range workers {
		all.Go(func() {
			var w worker
			for j := range todo {
				j.done <- w.search(ctx, g, j.entry)
			}
		})
	}
	for j := range ordered {
		select {
		case h := <-j.done:
			if ctx.Err() == nil && !g.tell(h) {
				return nil
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
	for entry, err := range g.ws.Walk(ctx, g.start, workspace.WalkOptions{}) {
		if err != nil || !entry.Type.IsRegular() || !g.filter.match(g.start, entry.Path) {
			continue
		}
		j := job{entry, make(chan hits, 1)}
		for _, c := range []chan<- job{ordered, todo} {
			select {
			case c <- j:
			case <-ctx.Done():
				return
			}
		}
	}
}

// worker searches one file after the other in the same memory.
type worker struct{ data, lower []byte }

func (w *worker) search(ctx context.Context, g *grep, entry workspace.Entry) hits {
	path := entry.Path
	data, err := w.read(g.ws, entry)
	switch {
	case errors.Is(err, errBinary):
		return hits{path: path}
	case err != nil:
		return hits{path: path, skipped: true}
	}
	h, lower := g.search(ctx, path, data, w.lower)
	w.lower = lower
	return h
}

var (
	errBinary = errors.New("binary")
	errLarge  = errors.New("too large")
)

func (w *worker) read(ws *workspace.Workspace, entry workspace.Entry) ([]byte, error) {
	f, err := ws.OpenEntry(entry)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w.data = w.data[:0]
	for {
		if len(w.data) == cap(w.data) {
			w.data = append(w.data, make([]byte, max(64<<10, len(w.data)))...)[:len(w.data)]
		}
		n, err := f.Read(w.data[len(w.data):cap(w.data)])
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
		}
	}
}
