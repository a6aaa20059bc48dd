package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// TestScripts runs the program itself, as a person or a script would. In addition to the usual commands of testscript, scripts have
//
//	exits CODE PROGRAM ARGS...   the program ends with that exit code
//	json PATH PATTERN            standard output is one JSON object in which the value at PATH matches
//	stream                       standard output is stream-json: a header, events that can be read back, a result
//	journal FILE                 FILE, or stdout, is a list of entries without a gap
//	cmp-transcript FILE          standard output is FILE, IDs, times and places aside
//	last-session [DIR | --all]   set SESSION to the session that was changed last, SHORT to a beginning of it
//	fill FILE SIZE TEXT          make a file of SIZE bytes
//	bytes FILE TEXT              make a file from a Go string
//	private FILE                 no other user can read FILE
//	serve SCRIPT [MODEL...]      set SERVER to the URL of a model server that plays a script and lists models
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true, ContinueOnError: true,
		Setup: func(e *testscript.Env) error {
			for name, value := range isolated(e.WorkDir) {
				e.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": checkJSON, "stream": checkStream, "journal": checkJournal,
			"cmp-transcript": cmpTranscript, "last-session": lastSession,
			"fill": fill, "bytes": writeBytes, "private": private, "serve": serve,
		},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\n%s", got, want, ts.ReadFile("stderr"))
	}
}

func checkJSON(ts *testscript.TestScript, _ bool, args []string) {
	var value any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(d.Decode(&value))
	for _, name := range strings.Split(args[0], ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			ts.Check(err)
			if i >= len(v) {
				ts.Fatalf("%s: there are only %d", args[0], len(v))
			}
			value = v[i]
		}
	}
	text := fmt.Sprint(value)
	if !regexp.MustCompile(`^(?s:` + args[1] + `)$`).MatchString(text) {
		ts.Fatalf("%s is %q, want %q", args[0], text, args[1])
	}
}

func checkStream(ts *testscript.TestScript, _ bool, _ []string) {
	type line struct {
		Type    string
		Version int
		Kind    string
	}
	var lines []line
	last := int64(0)
	for s := bufio.NewScanner(strings.NewReader(ts.ReadFile("stdout"))); s.Scan(); {
		var l line
		ts.Check(json.Unmarshal(s.Bytes(), &l))
		lines = append(lines, l)
		if l.Kind == "" {
			continue
		}
		var e session.Event
		ts.Check(json.Unmarshal(s.Bytes(), &e))
		if _, opaque := e.Body.(session.Opaque); opaque {
			ts.Fatalf("the kind %q is not known", l.Kind)
		}
		if e.Durable() && last > 0 && e.Seq != last+1 {
			ts.Fatalf("entry %d follows %d", e.Seq, last)
		}
		last = max(last, e.Seq)
	}
	if n := len(lines); n < 4 || lines[0] != (line{Type: "tenon.stream", Version: 1}) || lines[n-1] != (line{Type: "tenon.result", Version: 1}) {
		ts.Fatalf("the stream has the lines %v", lines)
	}
	if kind := lines[len(lines)-2].Kind; kind != "run_ended" {
		ts.Fatalf("the last event is %s", kind)
	}
}

func checkJournal(ts *testscript.TestScript, _ bool, args []string) {
	n := int64(0)
	for s := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0]))); s.Scan(); {
		var e session.Event
		ts.Check(json.Unmarshal(s.Bytes(), &e))
		if n++; e.Seq != n {
			ts.Fatalf("line %d is entry %d", n, e.Seq)
		}
	}
	if n < 5 {
		ts.Fatalf("only %d entries", n)
	}
}

func cmpTranscript(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile("stdout")
	for pattern, name := range map[string]string{
		`(?m)^[0-9a-z]{12,26}\b`:                    "SESSION",
		`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?`:         "TIME",
		regexp.QuoteMeta(ts.Getenv("WORK")) + `\S*`: "DIR",
		`(/private)?DIR`:                            "DIR",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, name)
	}
	if want := ts.ReadFile(args[0]); text != want {
		ts.Fatalf("got:\n%s\nwant:\n%s", text, want)
	}
}

func lastSession(ts *testscript.TestScript, _ bool, args []string) {
	list := append([]string{"sessions", "list", "--json", "--limit", "1"}, args...)
	if len(args) > 0 && args[0] != "--all" {
		list = []string{"sessions", "list", "--json", "--limit", "1", "--dir", args[0]}
	}
	ts.Check(ts.Exec("tenon", list...))
	var s index.Summary
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &s))
	ts.Setenv("SESSION", string(s.ID))
	ts.Setenv("SHORT", string(s.ID[:len(s.ID)-4]))
}

func fill(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	data := bytes.Repeat([]byte(args[2]), size/len(args[2])+1)[:size]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func private(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		ts.Fatalf("%s has mode %v", args[0], mode)
	}
}

func serve(ts *testscript.TestScript, _ bool, args []string) {
	script, err := modelserver.Script(ts.ReadFile(args[0]))
	ts.Check(err)
	srv, err := modelserver.Start(script, modelserver.With(modelserver.Config{Models: args[1:]}))
	ts.Check(err)
	ts.Defer(func() {
		for _, v := range srv.Violations() {
			ts.Logf("the server says: %v", v)
		}
		_ = srv.Close()
	})
	ts.Setenv("SERVER", srv.URL)
}
