package workspace

import "sync"

// warden keeps the guard of a workspace, made with the first command that needs one.
type warden struct {
	once    sync.Once
	current *guard
}

func (w *warden) guard(token string) *guard {
	w.once.Do(func() { w.current = newGuard(token) })
	return w.current
}

func (w *warden) dismiss() {
	w.once.Do(func() {}) // from now on there is none
	w.current.dismiss()
}
