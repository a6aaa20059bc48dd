package sandbox

// LookBorrowed is Look on a machine that refuses namespaces to this program.
func LookBorrowed() Report {
	r := Look()
	if !r.Borrowed {
		r.Namespaces, r.Trouble = false, "refused for a test"
		r.borrow()
	}
	return r
}

// FindBubblewrap is where bubblewrap is looked for.
var FindBubblewrap = findBubblewrap

// ParseMounts returns the ids, paths and options of a table.
func ParseMounts(text string) (mounts []string, err error) {
	all, err := parseMounts(text)
	for _, m := range all {
		mounts = append(mounts, m.path)
	}
	return mounts, err
}
