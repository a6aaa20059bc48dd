package workspace

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Shared is the state of a directory that all sessions of this process share that work in it, each with a [Workspace] of its own: the
// changes of their tools do not interleave, one look at the files serves all of them, and each session gets its own changes. If commands
// of two sessions overlap, both get the changes of that time as unsure; see [Change]. The zero value is ready for use; it must not be
// copied.
type Shared struct {
	// Baselines is a directory for the contents that files had before commands, until it is known what the commands changed. If the
	// process dies, the next one finds the changes there; see [Recover]. Empty: the system's directory for temporary files, and no later
	// process finds them. It must not change after the first use.
	Baselines string

	writing  sync.RWMutex // written from the last look at files to their replacement; read while a command's changes are looked for
	underWay sync.Map     // temporary files of this process, by absolute path

	mu      sync.Mutex
	watches map[string]*watch // by what they look at
}

// watch returns the watch of some trees without hidden paths, for a session. All sessions that look at the same files have the same one.
func (s *Shared) watch(f *follower, trees []tree) *watch {
	var key strings.Builder
	for _, t := range trees {
		key.WriteString(t.dir + "\x00")
	}
	key.WriteString("\x00" + strings.Join(f.policy.bounds.Hidden, "\x00"))
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches[key.String()]
	if w == nil {
		w = &watch{shared: s, key: key.String(), users: map[*follower]bool{}, running: map[*follower]int{}, others: map[string]bool{}}
		if s.watches == nil {
			s.watches = map[string]*watch{}
		}
		s.watches[w.key] = w
	}
	w.users[f] = true
	return w
}

// leave is called when a session leaves. The last session of a watch ends it.
func (s *Shared) leave(f *follower) error {
	var over []*watch
	s.mu.Lock()
	for key, w := range s.watches {
		if delete(w.users, f); len(w.users) == 0 {
			delete(s.watches, key)
			over = append(over, w)
		}
	}
	s.mu.Unlock()
	var err error
	for _, w := range over {
		w.mu.Lock()
		err = cmp.Or(err, w.close())
		w.mu.Unlock()
	}
	return err
}

// begins notes that a command of a session begins: it overlaps with the commands that run now.
func (s *Shared) begins(w *watch, f *follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.running[f]++
	for _, other := range s.watches {
		if other == w {
			continue
		}
		if len(other.running) > 0 {
			other.others[f.session] = true
		}
		other.addRunning(w.others)
	}
}

// ends notes that a command of a session has ended, and that its changes are known.
func (s *Shared) ends(w *watch, f *follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.running[f]--; w.running[f] == 0 {
		delete(w.running, f)
	}
}

// overlapping returns the sessions of other watches with commands that may have made the changes since the last look of a watch.
func (s *Shared) overlapping(w *watch) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(w.others))
}

// looked notes that the changes that a watch sees are known: from now on only those commands overlap that still run.
func (s *Shared) looked(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(w.others)
	for _, other := range s.watches {
		if other != w {
			other.addRunning(w.others)
		}
	}
}

// addRunning adds the sessions with commands that run now. The mutex of Shared is held.
func (w *watch) addRunning(to map[string]bool) {
	for f := range w.running {
		to[f.session] = true
	}
}

// noteOwn makes the changes of a transaction known to all watches in which commands run: the commands did not make them.
func (s *Shared) noteOwn(changes func() []Change) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.watches))
	s.mu.Unlock()
	for _, w := range all {
		w.noteOwn(changes)
	}
}
