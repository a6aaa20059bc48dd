//go:build !race

package sandbox_test

const slow = false
