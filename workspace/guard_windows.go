package workspace

// guard is not needed: the job object of a command ends all of it when the last handle goes, and with it this process.
type guard struct{}

func newGuard(string) *guard { return nil }

func (*guard) watch(int) {}

func (*guard) forget(int) {}

func (*guard) dismiss() {}
