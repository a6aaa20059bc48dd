package bedrock

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
)

// ownProcess returns a provider that runs the credential_process of a profile, or nil if there is none. The AWS provider gives
// the program the terminal, which the frontend owns. This one captures its standard error for the error text.
func ownProcess(cfg aws.Config) aws.CredentialsProvider {
	if !aws.IsCredentialsProvider(cfg.Credentials, (*processcreds.Provider)(nil)) {
		return nil
	}
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(config.SharedConfig); ok && s.CredentialProcess != "" {
			return aws.NewCredentialsCache(&process{command: s.CredentialProcess})
		}
	}
	return nil
}

type process struct{ command string }

// Retrieve implements [aws.CredentialsProvider].
func (p *process) Retrieve(ctx context.Context) (aws.Credentials, error) {
	var complaint tail
	build := processcreds.NewCommandBuilderFunc(func(ctx context.Context) (*exec.Cmd, error) {
		cmd, err := processcreds.DefaultNewCommandBuilder{Args: []string{p.command}}.NewCommand(ctx)
		if err == nil {
			cmd.Stdin, cmd.Stderr = nil, &complaint
		}
		return cmd, err
	})
	c, err := processcreds.NewProviderCommand(build).Retrieve(ctx)
	if said := strings.TrimSpace(complaint.String()); err != nil && said != "" {
		err = &processError{said, err}
	}
	return c, err
}

// processError is a failure of the program with its error output.
type processError struct {
	said string
	err  error
}

func (e *processError) Error() string { return fmt.Sprintf("it said: %s", e.said) }
func (e *processError) Unwrap() error { return e.err }

// tail keeps the end of its input.
type tail struct{ bytes.Buffer }

const maxTail = 500

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - maxTail; over > 0 {
		t.Next(over)
	}
	return n, err
}
