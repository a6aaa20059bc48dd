package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/internal/term"
)

// The limits of a log.
const (
	maxLog     = 512 << 10 // bytes of one file; there are at most two
	maxLogLine = 4 << 10
)

// journal is the log of a server. Its methods do nothing if there is no directory or the disk refuses: a log is no reason to fail.
type journal struct {
	file   string // "": none
	redact func(string) string

	mu sync.Mutex
}

// add writes one line with the time.
func (j *journal) add(format string, args ...any) {
	if j.file == "" {
		return
	}
	text := fmt.Sprintf(format, args...)
	text = term.OneLine(strings.ToValidUTF8(text[:min(len(text), maxLogLine)], "�"))
	if j.redact != nil {
		text = j.redact(text)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if info, err := os.Stat(j.file); err == nil && info.Size() > maxLog {
		_ = os.Rename(j.file, j.file+".old")
	}
	_ = os.MkdirAll(filepath.Dir(j.file), 0o700)
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(f, "%s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), text)
	_ = f.Close()
}
