// Package sdks runs the tests of internal/sdkconformance, which is a module of its own that go test ./... leaves out. It is
// apart from the other tests, so that the minutes which it takes to compile the vendors' SDKs for the first time are its own.
package sdks
