package checkpoint

import (
	"crypto/rand"
	"fmt"
	"io"
	"sync"
)

// Batch puts many contents into a store at once, in one file and as they are: it is for what will be dropped again, but for
// little of it. It leaves half of the room of the store to others. Its methods are safe for concurrent use.
type Batch struct {
	store *Store

	mu    sync.Mutex
	pack  *pack
	added map[sum]bool
	bytes int64
	err   error
}

// Batch begins a batch. Nothing that is put into it can be had before [Batch.Commit].
func (s *Store) Batch() *Batch { return &Batch{store: s, added: map[sum]bool{}} }

// Put adds what r has. It reads into buffer, which it returns for the next call, as far as that reaches. An error is one of r.
func (b *Batch) Put(r io.Reader, buffer []byte) (Kept, []byte, error) {
	data, kept, err := b.store.read(r, buffer)
	if err != nil || kept.Lost != "" {
		return kept, data, err
	}
	hash, _ := parseSum(kept.Hash)
	if b.store.has(hash) {
		return kept, data, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.added[hash] {
		return kept, data, nil
	}
	if b.err == nil && b.pack == nil {
		b.pack, b.err = b.store.create()
	}
	if b.err != nil {
		kept.Lost = b.failure()
		return kept, data, nil
	}
	if !b.store.reserve(kept.Size, b.store.maxTotal/2) {
		kept.Lost = b.store.full()
		return kept, data, nil
	}
	b.bytes += kept.Size
	if b.err = b.pack.add(entry{hash: hash, size: kept.Size, stored: kept.Size}, data); b.err != nil {
		kept.Lost = b.failure()
		return kept, data, nil
	}
	b.added[hash] = true
	return kept, data, nil
}

func (b *Batch) failure() string { return fmt.Sprintf("it could not be written: %v", b.err) }

// Commit keeps what was put, not durably before [Store.Sync]. After an error nothing of the batch is kept. The batch is done then.
func (b *Batch) Commit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.store.reserve(-b.bytes, 0)
	b.bytes = 0
	if b.pack == nil {
		return b.err
	}
	err := b.store.finish(b.pack, "batch-"+rand.Text()+packSuffix, b.err)
	b.pack = nil
	if err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	return nil
}
