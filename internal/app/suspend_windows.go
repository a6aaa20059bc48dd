package app

// Suspends reports whether Ctrl-Z can stop the process.
func Suspends() bool { return false }

// suspendBetween does nothing, because Windows has no key that stops a process.
func suspendBetween(pauser) (end func()) { return func() {} }
