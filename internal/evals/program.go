package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the import path of Tenon.
const module = "github.com/tenon-agent/tenon"

// build builds the program of this tree into dir. Its version names the commit. The flags of the environment decide how packages are compiled:
// with others, go test would compile all of them a second time.
func build(ctx context.Context, dir string) (string, error) {
	root, err := output(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil || root == "" {
		return "", fmt.Errorf("cannot find the source of Tenon: %w; run the command in a clone of Tenon, or set --program", err)
	}
	version, err := output(ctx, root, "git", "describe", "--tags", "--always", "--dirty")
	if err != nil {
		version = "devel" // no clone, but an archive
	}
	program := filepath.Join(dir, "tenon")
	if _, err := output(ctx, root, "go", "build", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", program, "./cmd/tenon"); err != nil {
		return "", fmt.Errorf("cannot build Tenon: %w", err)
	}
	return program, nil
}

// output runs a command and returns its output without the last line end. An error contains the error output.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, withoutGit(os.Environ())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), err
}

// identify returns the version of a program and the digest of its file.
func identify(ctx context.Context, program string) (version, digest string, err error) {
	f, err := os.Open(program)
	if err != nil {
		return "", "", fmt.Errorf("cannot read --program: %w", err)
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", "", fmt.Errorf("cannot read --program: %w", err)
	}
	version, err = output(ctx, "", program, "version")
	if err != nil {
		return "", "", fmt.Errorf("cannot ask --program for its version: %w", err)
	}
	version, _, _ = strings.Cut(version, "\n")
	return version, hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
