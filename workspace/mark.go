package workspace

import (
	"crypto/rand"
	"fmt"
	"sync"
)

// marks names the commands of a workspace in the environment that all inherit which a command starts.
type marks struct {
	once  sync.Once
	token string

	numbers sync.Mutex
	number  int
}

// markName is the variable. Its name must not look like a secret: the sandbox would take it away.
const markName = "IN_TENON"

func (m *marks) secret() string {
	m.once.Do(func() { m.token = rand.Text() })
	return m.token
}

// mark is a variable for one command.
func (m *marks) mark() string {
	m.numbers.Lock()
	defer m.numbers.Unlock()
	m.number++
	return fmt.Sprintf("%s=%s.%d.", markName, m.secret(), m.number)
}
