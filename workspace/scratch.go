package workspace

import (
	"os"
	"sync"
)

// scratch is the open directory for temporary files. No link in it leads out: a root does not follow such a link.
type scratch struct {
	mu   sync.Mutex
	dir  string
	root *os.Root
}

// in opens a directory, and makes it if it is missing. It stays open until close.
func (s *scratch) in(dir string) (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil && s.dir == dir {
		return s.root, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s.dir, s.root = dir, root
	return root, nil
}

func (s *scratch) close() error {
	if s.root == nil {
		return nil
	}
	return s.root.Close()
}

// Covered returns the name of the directory for temporary files, such as /tmp, if it covers a file of the machine at this path: tools and
// commands do not see that file. Else it returns "".
func (w *Workspace) Covered(name string) string {
	p, err := w.place(name)
	if err != nil {
		return ""
	}
	at, ok := w.limits.Load().scratch.In(p.abs)
	if _, err := os.Lstat(p.abs); !ok || err != nil {
		return ""
	}
	return at
}

// temporary reports whether a path lies in the directory for temporary files.
func (p *policy) temporary(abs string) bool {
	_, ok := p.scratch.In(abs)
	return ok
}
