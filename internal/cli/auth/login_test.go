package auth

import (
	"context"
	"os"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

// deaf is a terminal without input.
type deaf struct{ asked chan struct{} }

func (deaf) Read([]byte) (int, error) { select {} }

func (deaf) TerminalWidth() int { return 80 }

func (d deaf) ReadPassword() ([]byte, error) {
	<-d.asked
	return nil, os.ErrClosed
}

// An interrupt ends the question.
func TestLoginIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := deaf{make(chan struct{})}
		defer close(in.asked)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := readHidden(ctx, in)
			done <- err
		}()
		synctest.Wait()
		cancel(command.ErrInterrupted)
		if err := <-done; err != command.ExitCode(command.ExitInterrupted) {
			t.Errorf("got %v", err)
		}
	})
}

func TestLooksLikeAKey(t *testing.T) {
	for word, want := range map[string]bool{
		"sk-ant-api03-0123456789": true, "AIzaSyA0123456789": true, "gsk_0123456789": true, "a1b2c3d4e5f6a7b8c9d0e1f2": true,
		"anthropic": false, "openai-compatible": false, "my-provider-with-a-very-long-name": false, "/home/me/keys/key-0123456789abcdef.txt": false,
		"": false, "sk-": false, "vllm2": false,
	} {
		if got := looksLikeKey(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
