//go:build !unix

package workspace

import "os"

// claim holds nothing: directories have no locks here.
func claim(string) (*os.File, error) { return nil, nil }

// sweepAbandoned does nothing: whose process has died cannot be told.
func sweepAbandoned(string) {}
