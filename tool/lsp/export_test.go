package lsp

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"time"
)

// FirstAnswer sends a change of a file to its server, which runs, and waits for the first report about it.
func (m *Servers) FirstAnswer(ctx context.Context, from reader, name string) error {
	spec, _ := m.specOf(name)
	s, err := m.server(ctx, spec)
	if err != nil {
		return err
	}
	s.mu.Lock()
	mark := s.count
	s.mu.Unlock()
	s.changed([]change{{name, kindChanged}})
	s.open(from, name)
	for {
		news, done := s.reported(mark, []string{name})
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Rest sets the time without use after which a server makes room for another one.
func (l *Limit) Rest(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = d
}

// AwaitEnd waits until a server does not run.
func (m *Servers) AwaitEnd(name string) {
	m.mu.Lock()
	s := m.slots[name].running
	m.mu.Unlock()
	if s != nil {
		<-s.over
	}
}

// WatchesMemory reports whether the memory of servers is known here.
var WatchesMemory = memoryOf(os.Getpid()) > 0

// ReadFrame is the parser of messages.
func ReadFrame(r *bufio.Reader) ([]byte, error) { return readFrame(r) }

// Receive lets a connection without a server take messages, and returns what the server says about files.
func Receive(root string, data []byte) int {
	s := &server{root: root, docs: map[string]*document{}, found: map[string]*published{}, news: make(chan struct{})}
	s.conn = newConn(discard{}, s.handle)
	go s.conn.write()
	s.conn.read(bytes.NewReader(data))
	return s.count
}

type discard struct{}

func (discard) Write(data []byte) (int, error) { return len(data), nil }
func (discard) Close() error                   { return nil }

// Offset and PositionAt convert positions.
func Offset(text string, line, character int, inBytes bool) int {
	return offset(text, position{line, character}, inBytes)
}

func PositionAt(text string, at int, inBytes bool) (line, character int) {
	p := positionAt(text, at, inBytes)
	return p.Line, p.Character
}

// URI and Path convert names of files.
func URI(name string) string { return uriOf(name) }
func Path(uri string) string { return pathOf(uri) }
