// Package sample chooses which cases of a long test run by default. The choice is the same each time.
package sample

import "os"

// variable lets every case run.
const variable = "TENON_TEST_ALL"

// All reports whether every case must run: the environment variable TENON_TEST_ALL is set.
func All() bool { return os.Getenv(variable) != "" }

// Takes reports whether case i of a series runs: one case of each plain cases, and one of each race cases under the race detector.
// With TENON_TEST_ALL every case runs.
func Takes(i, plain, race int) bool {
	switch {
	case All():
		return true
	case Race:
		return i%race == 0
	default:
		return i%plain == 0
	}
}
