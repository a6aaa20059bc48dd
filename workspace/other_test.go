//go:build !unix

package workspace_test

func plainUmask() {}
