package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// A database that is removed or replaced takes no more entries, and its writer says so.
func TestAReplacedDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		path := filepath.Join(t.TempDir(), "sessions.db")
		s := open(t, path)
		w := writerFor(t, s)
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append(t.Context(), session.Stamp{}, user("lost")); !errors.Is(err, session.ErrReplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
