package workspace

import (
	"runtime"
	"slices"
	"sync"
)

// maxAhead is the maximum of entries that a walk reads in advance.
const maxAhead = 50_000

// ahead reads directories before a walk comes to them: those that it will come to first.
type ahead struct {
	mu      sync.Mutex
	change  *sync.Cond // of all below; nil: there are no readers
	todo    []*folder  // the last one is next
	reading map[*folder]chan struct{}
	done    map[*folder]bool
	entries int // of those that are done
	ended   bool

	readers sync.WaitGroup
}

// take returns when a folder is read, by a reader or here, or at the end of ctx.
func (a *ahead) take(w *walk, f *folder) {
	a.mu.Lock()
	busy := a.reading[f]
	if busy != nil {
		a.mu.Unlock()
		select {
		case <-busy:
		case <-w.ctx.Done():
			return
		}
		a.mu.Lock()
	}
	if a.done[f] {
		delete(a.done, f)
		if a.entries -= len(f.items); a.change != nil {
			a.change.Broadcast()
		}
		a.mu.Unlock()
		return
	}
	if n := len(a.todo); n > 0 && a.todo[n-1] == f {
		a.todo = a.todo[:n-1]
	} else if i := slices.Index(a.todo, f); i >= 0 {
		a.todo = slices.Delete(a.todo, i, i+1)
	}
	a.mu.Unlock()
	w.read(f)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(w, f)
}

// add puts the folders in a folder in front of all others. The first ones make the readers start.
func (a *ahead) add(w *walk, f *folder) {
	n := len(a.todo)
	for _, item := range slices.Backward(f.items) {
		if item.folder != nil {
			a.todo = append(a.todo, item.folder)
		}
	}
	if len(a.todo) == n {
		return
	}
	if a.change == nil {
		a.change = sync.NewCond(&a.mu)
		a.reading, a.done = map[*folder]chan struct{}{}, map[*folder]bool{}
		for range min(runtime.GOMAXPROCS(0), 8) {
			a.readers.Go(func() { a.read(w) })
		}
	}
	a.change.Broadcast()
}

// read is a reader.
func (a *ahead) read(w *walk) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		for !a.ended && (len(a.todo) == 0 || a.entries > maxAhead) {
			a.change.Wait()
		}
		if a.ended || w.ctx.Err() != nil {
			return
		}
		f := a.todo[len(a.todo)-1]
		a.todo = a.todo[:len(a.todo)-1]
		ready := make(chan struct{})
		a.reading[f] = ready
		a.mu.Unlock()
		w.read(f)
		a.mu.Lock()
		delete(a.reading, f)
		a.done[f] = true
		a.entries += len(f.items)
		a.add(w, f)
		close(ready)
	}
}

// end waits for the readers.
func (a *ahead) end() {
	a.mu.Lock()
	a.ended = true
	if a.change != nil {
		a.change.Broadcast()
	}
	a.mu.Unlock()
	a.readers.Wait()
}
