//go:build !linux

package sandbox_test

func attempt(string, string) {}

func inElsewhere(string) error { return nil }
