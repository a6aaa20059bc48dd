package workspace

// FailAt lets the nth step of a change fail, from 1, and tells how many steps there were so far.
func (w *Workspace) FailAt(n int, err error) (steps *int) {
	steps = new(int)
	w.fail = func() error {
		if *steps++; *steps == n {
			return err
		}
		return nil
	}
	return steps
}
