package checkpoint

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// Sweep drops all contents but those that keep returns true for, and makes small what is kept. It does nothing while another
// process has the store open. No other method may be called at the same time.
func (s *Store) Sweep(keep func(hash string) bool) error {
	if s.root == nil {
		return nil // nothing was kept
	}
	err := s.alone(func() error {
		s.mu.Lock()
		err := s.look()
		s.mu.Unlock()
		if err != nil {
			return err
		}
		return s.sweep(keep)
	})
	if err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	return nil
}

// alone calls f while no other process has the store open, or not at all.
func (s *Store) alone(f func() error) (err error) {
	if err := s.lock.Unlock(); err != nil {
		return err
	}
	locked, err := s.lock.TryLock()
	if err == nil && locked {
		err = errors.Join(f(), s.lock.Unlock())
	}
	return errors.Join(err, s.lock.RLock())
}

func (s *Store) sweep(keep func(hash string) bool) error {
	kept, stale := s.divide(keep)
	if len(stale) == 0 {
		return s.removeTemps()
	}
	p, err := s.create()
	if err != nil {
		return err
	}
	for _, l := range kept {
		if err = s.move(p, l); err != nil {
			break
		}
	}
	if err = s.finish(p, "swept-"+rand.Text()+packSuffix, err); err != nil {
		return err
	}
	if err := s.Sync(); err != nil {
		return err
	}
	for _, name := range stale {
		if err := s.root.Remove(name); err != nil {
			return err
		}
		s.forget(name)
	}
	return s.removeTemps()
}

// divide finds the packs that have something to drop or to make small, and what is kept of them.
func (s *Store) divide(keep func(hash string) bool) (kept []location, stale []string) {
	old := map[string]bool{}
	for name := range s.files {
		old[name] = false
	}
	for hash, l := range s.where {
		if !keep(hash.String()) || l.method == plain && strings.HasPrefix(l.file, "batch-") {
			old[l.file] = true
		}
	}
	for hash, l := range s.where {
		if old[l.file] && keep(hash.String()) {
			kept = append(kept, l)
		}
	}
	for name, is := range old {
		if is {
			stale = append(stale, name)
		}
	}
	return kept, stale
}

// move copies a content to another pack. One that is damaged is left behind.
func (s *Store) move(to *pack, l location) error {
	data, err := s.get(l.hash)
	if _, damaged := errors.AsType[*DamagedError](err); damaged {
		return nil
	}
	if err != nil {
		return err
	}
	body, method := deflate(data)
	return to.add(entry{hash: l.hash, method: method, size: l.size, stored: int64(len(body))}, body)
}

// removeTemps removes what processes left behind that died while they wrote.
func (s *Store) removeTemps() error {
	d, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) {
			err = errors.Join(err, s.root.Remove(name))
		}
	}
	return err
}
