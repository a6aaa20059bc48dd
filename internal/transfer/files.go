package transfer

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

func subdirs(dir string) (out []string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil // missing or not accessible
	}
	for _, e := range all {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// filesIn returns the regular files of a directory with an extension.
func filesIn(dir, ext string) (out []string) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range all {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ext {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// sourceOf has the facts of the file system about a source.
func sourceOf(program, file string) (Source, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Source{}, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return Source{}, err
	}
	return Source{Program: program, File: abs, Updated: info.ModTime().UTC(), Size: info.Size()}, nil
}

// beginning calls f with the objects on the first lines of a file, until f returns false.
func beginning(ctx context.Context, file string, f func(object) bool) error {
	const most, longest, all = 60, 4 << 20, 8 << 20
	in, _, err := openRegular(file)
	if err != nil {
		return err
	}
	defer in.Close() // read-only
	n := 0
	for l, err := range lines(ctx, io.LimitReader(in, all), longest) {
		if err != nil {
			return err
		}
		o, bad := object(nil), l.tooLong()
		if !bad {
			o, err = objectOf(l.data)
			bad = err != nil
		}
		if n++; n > most || !bad && !f(o) {
			break
		}
	}
	return nil
}
