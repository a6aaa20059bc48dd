package path

// Scratch is the directory for temporary files of a session, and its names in the sandbox: /tmp and /var/tmp on Linux. Tools, commands and
// the judge of calls use it by these names. The zero value is none.
type Scratch struct {
	Dir   string   // on disk, absolute; it may not exist yet
	Names []string // absolute; TMPDIR has the first
	Own   []string // trees below the names that are those of the machine, such as a project in /tmp
}

// In returns the name of the scratch directory that a resolved path is or lies in.
func (s *Scratch) In(name string) (at string, ok bool) {
	if at, ok = In(s.Names, name); !ok || name == at {
		return at, ok
	}
	_, own := In(s.Own, name)
	return at, !own && !Holds(name, s.Own)
}

// OnDisk returns the path on disk of a name.
func (s *Scratch) OnDisk(name string) string {
	at, ok := s.In(name)
	if !ok || at == name || at == s.Dir {
		return name
	}
	rel, _ := Rel(at, name)
	return s.Dir + separator + rel
}
