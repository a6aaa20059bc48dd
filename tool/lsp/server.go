package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	maxDocuments = 64      // open in a server
	maxDocument  = 4 << 20 // bytes of one
	maxFiles     = 2000    // with problems
	maxProblems  = 300     // of a file
)

// server is a connection to a server that runs and is initialized.
type server struct {
	spec  Spec
	root  string
	proc  *process
	conn  *conn
	bytes bool // characters of positions are bytes
	loops sync.WaitGroup
	over  chan struct{} // closed when it has ended and its slot is free

	mu      sync.Mutex
	docs    map[string]*document  // open files, by path
	found   map[string]*published // problems, by path
	count   int                   // of publications
	news    chan struct{}         // closed with the next publication
	known   map[string]map[problem]int
	uses    int
	spoke   bool      // it has published problems that an edit waited for
	silent  int       // edits in a row for which it published nothing
	stalled int       // requests in a row that were not answered in time
	used    time.Time // last
}

// document is an open file.
type document struct {
	version, use int
	text         string
	facts        facts
}

// facts tell two versions of a file apart without reading it.
type facts struct {
	size int64
	time time.Time
}

// published is what a server last said about a file.
type published struct {
	version, count int
	problems       []diagnostic
}

// diagnostic is a problem, as servers report it.
type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

// problem is a diagnostic without its position, which edits move.
type problem struct {
	severity int
	message  string
}

// counts reports whether the problem is an error or a warning.
func (d diagnostic) counts() bool { return d.Severity <= severityWarning }

// The severities.
const (
	severityError   = 1
	severityWarning = 2
)

// connect initializes a server that was started. The caller ends it with stop.
func connect(ctx context.Context, spec Spec, root string, p *process) (*server, error) {
	s := &server{
		spec: spec, root: root, proc: p, docs: map[string]*document{}, found: map[string]*published{}, news: make(chan struct{}), over: make(chan struct{}), used: time.Now(),
	}
	s.conn = newConn(p.in, s.handle)
	s.loops.Go(s.conn.write)
	s.loops.Go(func() {
		s.conn.read(p.out)
		p.out.Close()
	})
	var answer struct {
		Capabilities struct {
			PositionEncoding string `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	if err := s.conn.call(ctx, "initialize", s.greeting(), &answer); err != nil {
		s.kill()
		return nil, p.complain.explain(fmt.Errorf("it did not start: %w", err))
	}
	s.bytes = answer.Capabilities.PositionEncoding == "utf-8"
	s.conn.notify("initialized", struct{}{})
	s.conn.notify("workspace/didChangeConfiguration", map[string]any{"settings": s.spec.settings})
	return s, nil
}

// greeting is the parameters of initialize. There is no number of the process: the server does not see it in the sandbox, and its input ends when
// this process does.
func (s *server) greeting() any {
	type object = map[string]any
	dynamic := object{"dynamicRegistration": true}
	return object{
		"processId": nil, "rootPath": s.root, "rootUri": uriOf(s.root), "initializationOptions": s.spec.options,
		"clientInfo":       object{"name": "Tenon"},
		"workspaceFolders": []object{s.folder()},
		"capabilities": object{
			"general": object{"positionEncodings": []string{"utf-8", "utf-16"}},
			"workspace": object{
				"configuration": true, "workspaceFolders": true, "didChangeConfiguration": dynamic, "didChangeWatchedFiles": dynamic,
				"workspaceEdit": object{"documentChanges": true}, "symbol": object{},
			},
			"textDocument": object{
				"synchronization": object{"didSave": true}, "publishDiagnostics": object{"versionSupport": true},
				"hover": object{"contentFormat": []string{"markdown", "plaintext"}}, "definition": object{}, "references": object{},
				"documentSymbol": object{"hierarchicalDocumentSymbolSupport": true}, "rename": object{},
			},
		},
	}
}

func (s *server) folder() map[string]any {
	return map[string]any{"uri": uriOf(s.root), "name": filepath.Base(s.root)}
}

// handle answers requests of the server and takes its notifications.
func (s *server) handle(method string, params json.RawMessage, request bool) (any, error) {
	switch method {
	case "textDocument/publishDiagnostics":
		s.publish(params)
	case "workspace/configuration":
		var asked struct {
			Items []struct{ Section string }
		}
		if err := json.Unmarshal(params, &asked); err != nil {
			return nil, err
		}
		settings := make([]any, min(len(asked.Items), 100))
		for i := range settings {
			settings[i] = s.spec.settings[asked.Items[i].Section]
		}
		return settings, nil
	case "workspace/workspaceFolders":
		return []any{s.folder()}, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "this client does not apply edits"}, nil
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest", "workspace/diagnostic/refresh":
		return nil, nil
	}
	if request {
		return nil, errors.New("the client does not have this method")
	}
	return nil, nil
}

// publish notes the problems of a file. It ignores files outside of the root.
func (s *server) publish(params json.RawMessage) {
	var p struct {
		URI         string       `json:"uri"`
		Version     int          `json:"version"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	name := pathOf(p.URI)
	if rel, err := filepath.Rel(s.root, name); name == "" || err != nil || !filepath.IsLocal(rel) {
		return
	}
	p.Diagnostics = slices.DeleteFunc(p.Diagnostics, func(d diagnostic) bool { return !d.counts() })
	p.Diagnostics = slices.Clone(p.Diagnostics[:min(len(p.Diagnostics), maxProblems)])
	for i, d := range p.Diagnostics {
		p.Diagnostics[i].Severity = cmp.Or(d.Severity, severityError)
		p.Diagnostics[i].Message, p.Diagnostics[i].Source = oneLine(d.Message, maxMessage), oneLine(d.Source, 30)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found[name] == nil && len(s.found) >= maxFiles {
		return
	}
	s.count++
	s.found[name] = &published{p.Version, s.count, p.Diagnostics}
	close(s.news)
	s.news = make(chan struct{})
}

// reader reads files, as far as the session may.
type reader interface {
	ReadFile(name string, limit int64) ([]byte, error)
}

// open sends the contents of files, and what has changed in the files that are open. It returns the open ones among the names.
func (s *server) open(from reader, names ...string) (opened []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
	for name := range maps.Clone(s.docs) {
		s.update(from, name)
	}
	for _, name := range names {
		if s.docs[name] != nil || s.update(from, name) {
			s.uses++
			s.docs[name].use = s.uses
			opened = append(opened, name)
		}
	}
	for len(s.docs) > maxDocuments {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.docs)), func(a, b string) int { return s.docs[a].use - s.docs[b].use })
		s.close(oldest)
	}
	return opened
}

// names returns the open files.
func (s *server) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.docs))
}

// update opens a file, sends its change, or closes it if it cannot be read. It reports whether the file is open.
func (s *server) update(from reader, name string) bool {
	d := s.docs[name]
	now, err := factsOf(name)
	if err == nil && d != nil && d.facts == now {
		return true
	}
	var text string
	if err == nil {
		var data []byte
		data, err = from.ReadFile(name, maxDocument)
		text = string(data)
	}
	switch {
	case err != nil && d == nil:
		return false
	case err != nil:
		s.close(name)
		return false
	case d == nil:
		s.docs[name] = &document{version: 1, text: text, facts: now}
		s.conn.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": uriOf(name), "languageId": s.spec.language(name), "version": 1, "text": text,
		}})
	case d.text != text:
		d.version++
		d.text, d.facts = text, now
		s.conn.notify("textDocument/didChange", map[string]any{
			"textDocument":   map[string]any{"uri": uriOf(name), "version": d.version},
			"contentChanges": []map[string]any{{"text": text}},
		})
		s.conn.notify("textDocument/didSave", document1(name))
	default:
		d.facts = now
	}
	return true
}

// close closes an open file.
func (s *server) close(name string) {
	delete(s.docs, name)
	s.conn.notify("textDocument/didClose", document1(name))
}

func document1(name string) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uriOf(name)}}
}

func factsOf(name string) (facts, error) {
	info, err := os.Stat(name)
	if err != nil {
		return facts{}, err
	}
	if !info.Mode().IsRegular() {
		return facts{}, fs.ErrInvalid
	}
	return facts{info.Size(), info.ModTime()}, nil
}

// changed reports changes of files on disk, and makes the next open read them.
func (s *server) changed(changes []change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := make([]map[string]any, len(changes))
	for i, c := range changes {
		events[i] = map[string]any{"uri": uriOf(c.name), "type": c.kind}
		if d := s.docs[c.name]; d != nil {
			d.facts = facts{}
		}
		if c.kind == kindDeleted {
			delete(s.found, c.name)
		}
	}
	s.conn.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": events})
}

// change is a change of a file on disk.
type change struct {
	name string
	kind int
}

// The kinds of changes.
const (
	kindCreated = 1
	kindChanged = 2
	kindDeleted = 3
)

// maxStalled is the number of requests in a row without an answer after which a server counts as hung.
const maxStalled = 3

// call sends a request.
func (s *server) call(ctx context.Context, method string, params, result any) error {
	err := s.conn.call(ctx, method, params, result)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
	if !errors.Is(err, context.DeadlineExceeded) {
		s.stalled = 0
		return err
	}
	if s.stalled++; s.stalled >= maxStalled {
		s.conn.fail(fmt.Errorf("it left %d requests without an answer", s.stalled))
	}
	return fmt.Errorf("no answer to %s in time", method)
}

// lastUse returns when the server was last used.
func (s *server) lastUse() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// stop asks the server to end, and ends it.
func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	if s.conn.call(ctx, "shutdown", nil, nil) == nil {
		s.conn.notify("exit", nil)
		s.proc.wait(ctx)
	}
	s.kill()
}

// stopTime limits the wait for a server to end by itself.
const stopTime = time.Second

func (s *server) kill() {
	s.conn.fail(errStopped)
	s.proc.kill()
	s.loops.Wait()
}

var errStopped = errors.New("it was stopped")
