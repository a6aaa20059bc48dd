package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
)

// resultsName is the directory below the artifacts of a session with what results had that were cut for the model.
const resultsName = "results"

// maxKept is how many bytes the whole results of one session may have on disk, together.
const maxKept = 256 << 20

// keeper writes whole results below a directory, where the read tool may open them.
type keeper struct {
	dir  string
	most int64 // bytes of all

	mu    sync.Mutex     // held while a result is written
	size  int64          // bytes of those that are there; -1: nobody has looked yet
	taken map[string]int // how many there are of calls with the same names
}

func newKeeper(artifacts string) *keeper {
	return &keeper{dir: filepath.Join(artifacts, resultsName), most: maxKept, size: -1, taken: make(map[string]int)}
}

// keep writes a result and says where.
func (k *keeper) keep(_ context.Context, call llm.ToolCall, text string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := k.room(root, int64(len(text))); err != nil {
		return "", err
	}
	name, f, err := k.create(root, call)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, root.Remove(name))
	}
	k.size += int64(len(text))
	return filepath.Join(k.dir, name), nil
}

// room is an error when there is none for so many bytes.
func (k *keeper) room(root *os.Root, n int64) error {
	if k.size < 0 || k.size+n > k.most { // somebody may have removed some
		files, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			return err
		}
		k.size = 0
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				k.size += info.Size()
			}
		}
	}
	if k.size+n > k.most {
		return fmt.Errorf("results of this session have %d MB already, in %s; remove what is not needed there, or begin a new session", k.size>>20, k.dir)
	}
	return nil
}

// create makes a file named after a call. Names of calls may come again in later answers.
func (k *keeper) create(root *os.Root, call llm.ToolCall) (string, *os.File, error) {
	base := safe(call.Name) + "-" + safe(call.ID)
	for {
		k.taken[base]++
		name := base + ".txt"
		if n := k.taken[base]; n > 1 {
			name = fmt.Sprintf("%s-%d.txt", base, n)
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return name, f, err
		}
	}
}

// safe is a word as a part of a file name.
func safe(word string) string {
	const longest = 60
	word = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, word)
	return word[:min(len(word), longest)]
}
