package sandbox

import (
	"runtime"
	"sync"
)

// spareThreads is how many threads the helper has beyond the first: for waiting, for signals, for the control socket, and a few more.
const spareThreads = 8

// spare makes all threads that this process will ever need. Once the command has used up its share of processes there are no more to
// be had, and a Go program that needs one and gets none dies, with all that is inside. Idle threads stay.
func spare() {
	runtime.GOMAXPROCS(1)
	var here, all sync.WaitGroup
	here.Add(spareThreads)
	for range spareThreads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here.Done()
			here.Wait()
		})
	}
	all.Wait()
}
