//go:build unix

package undo_test

func childMain() int { return 0 }
