//go:build !linux

package sandbox_test

func attempt(string, string) {}
