// Command screenshots shows what people see of Tenon. It builds the program and runs it in a pseudo-terminal of 80 and of 120 columns against a
// scripted server on this machine. For each run it writes a text file and images in a light and a dark palette, and it takes pictures of the
// HTML pages with Chromium. It does the same with the main states of the interactive terminal, at 80x24, 120x40 and 200x60, in the dark, in the light
// and without color. It needs Linux or macOS, Go and git, and no network:
//
//	go run ./internal/testkit/screenshots
//	go run ./internal/testkit/screenshots -readme
//
// The second command only renews the recording in README.md and docs/run.svg.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("o", filepath.Join("dist", "screenshots"), "the directory to write to")
	readme := flag.Bool("readme", false, "renew the recording in README.md and docs/run.svg instead")
	flag.Parse()
	err := screenshots(ctx, *out, *readme, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		stop()
		os.Exit(1)
	}
}

func screenshots(ctx context.Context, out string, readme bool, log io.Writer) (err error) {
	work, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove(work)) }()
	bin := filepath.Join(work, "bin")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", bin+string(filepath.Separator), "./cmd/tenon")
	build.Stderr = os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return fmt.Errorf("cannot build the program: %w; run this at the root of the repository", err)
	}
	if readme {
		return renew(ctx, work, bin)
	}
	return album(ctx, work, bin, out, browser(), log, true)
}

// album writes all files to a directory, but only some of the interactive terminal unless all is set. Without a browser there are no PNG files.
func album(ctx context.Context, work, bin, out, browser string, log io.Writer, all bool) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if browser == "" {
		fmt.Fprintln(log, "There is no Chromium in PATH: no PNG files and no pictures of the HTML pages.")
	}
	images := photographer{browser: browser, work: work, out: out}
	for _, columns := range []int{80, 120} {
		p, err := newPlace(ctx, filepath.Join(work, fmt.Sprint(columns)), bin)
		if err != nil {
			return err
		}
		err = p.shoot(ctx, columns, &images)
		if err := errors.Join(err, p.close()); err != nil {
			return err
		}
	}
	if err := terminals(ctx, work, bin, &images, all); err != nil {
		return err
	}
	fmt.Fprintf(log, "%d files in %s\n", images.written, out)
	return nil
}

// remove deletes a directory, with the read-only directories of the toolchain's caches in it.
func remove(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
