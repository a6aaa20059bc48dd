package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

func TestDownload(t *testing.T) {
	server := site(t, send("application/zip", "PK\x03\x04data"))
	s := tools(t, Options{Hosts: anywhere})
	call, err := s.download().Prepare(t.Context(), `{"url":"`+server.URL+`/a","path":"lib/a.zip"}`)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.ws.Dir(), "lib", "a.zip")
	if e := call.Effects; len(e.Hosts) != 1 || "http://"+e.Hosts[0] != server.URL || len(e.Writes) != 1 || e.Writes[0].Name != file || e.Idempotent {
		t.Errorf("effects %+v", e)
	}
	result, err := call.Run(t.Context(), nil)
	if err != nil || result.Content.Text() != "saved lib/a.zip: 8 bytes, application/zip" {
		t.Fatalf("text %q, error %v", result.Content.Text(), err)
	}
	want := Downloaded{
		URL: server.URL + "/a", Path: "lib/a.zip", MIME: "application/zip", Bytes: 8,
		SHA256: "36024029036bc411ef5c80f62d284e3b80b93686ab8552be0411326ba6c351cd",
	}
	if got := result.Details.(Downloaded); got != want {
		t.Errorf("details %+v, want %+v", got, want)
	}
	data, err := os.ReadFile(file)
	if err != nil || string(data) != "PK\x03\x04data" {
		t.Errorf("file %q, error %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode()&0o111 != 0 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestDownloadReplacesOnlyWhatWasRead(t *testing.T) {
	server := site(t, send("", "new"))
	put := func(s *set, name string, mode os.FileMode) string {
		file := filepath.Join(s.ws.Dir(), name)
		if err := os.WriteFile(file, []byte("old"), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s := tools(t, Options{Hosts: anywhere})
	file := put(s, "a", 0o644)
	if _, err := run(t, s.download(), `{"url":%q,"path":"a"}`, server.URL); err == nil || !strings.Contains(err.Error(), "a exists") {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "old" {
		t.Errorf("the file is %q", data)
	}
	put(s, "\u202ea", 0o644) // a name that is not what it looks like
	if _, err := run(t, s.download(), "{\"url\":%q,\"path\":\"\u202ea\"}", server.URL); err == nil || !strings.Contains(err.Error(), `"\u202ea" exists`) {
		t.Errorf("error %v", err)
	}

	unread := errors.New("read it first")
	var asked []string
	var answer error
	s = tools(t, Options{Hosts: anywhere, Replace: func(name string) error { asked = append(asked, name); return answer }})
	file, answer = put(s, "a", 0o644), unread
	if _, err := run(t, s.download(), `{"url":%q,"path":"a"}`, server.URL); !errors.Is(err, unread) {
		t.Errorf("error %v", err)
	}
	answer = nil
	if _, err := run(t, s.download(), `{"url":%q,"path":"a"}`, server.URL); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(file); string(data) != "new" || len(asked) != 3 || asked[2] != file {
		t.Errorf("the file is %q; asked for %q", data, asked)
	}
	if runtime.GOOS != "windows" {
		put(s, "tool", 0o755)
		if err := os.Chmod(filepath.Join(s.ws.Dir(), "tool"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := run(t, s.download(), `{"url":%q,"path":"tool"}`, server.URL); err == nil || !strings.Contains(err.Error(), "executable") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := run(t, s.download(), `{"url":%q,"path":"."}`, server.URL); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("error %v", err)
	}
}

// A file that appears while another is under way to its place stays.
func TestDownloadLooksAgain(t *testing.T) {
	s := tools(t, Options{Hosts: anywhere})
	file := filepath.Join(s.ws.Dir(), "a")
	server := site(t, func(w http.ResponseWriter, _ *http.Request) {
		if err := os.WriteFile(file, []byte("another's"), 0o644); err != nil {
			panic(err)
		}
		_, _ = io.WriteString(w, "new")
	})
	if _, err := run(t, s.download(), `{"url":%q,"path":"a"}`, server.URL); err == nil || !strings.Contains(err.Error(), "a exists") {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "another's" {
		t.Errorf("the file is %q", data)
	}
}

// A directory that becomes a link while a file is under way to it leads the file nowhere.
func TestDownloadFollowsNoNewLink(t *testing.T) {
	s := tools(t, Options{Hosts: anywhere})
	dir := filepath.Join(s.ws.Dir(), "lib")
	if err := os.Mkdir(filepath.Join(s.ws.Dir(), "kept"), 0o755); err != nil {
		t.Fatal(err)
	}
	server := site(t, func(w http.ResponseWriter, _ *http.Request) {
		if err := os.Symlink("kept", dir); err != nil {
			panic(err)
		}
		_, _ = io.WriteString(w, "new")
	})
	if _, err := run(t, s.download(), `{"url":%q,"path":"lib/a"}`, server.URL); err == nil {
		t.Error("saved through a link")
	}
	if names, _ := os.ReadDir(filepath.Join(s.ws.Dir(), "kept")); len(names) > 0 {
		t.Errorf("there is %v", names)
	}
}

func TestDownloadsThatFailLeaveNothing(t *testing.T) {
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	tests := []struct {
		name string
		h    http.HandlerFunc
		want string
	}{
		{"not there", http.NotFound, "404 Not Found; nothing was saved"},
		{"too large by what it says", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999999999999")
		}, "more than 104857600"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "more than 104857600 bytes; nothing was saved"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		}, "broke off after 5 bytes, nothing was saved: the connection ended too early"},
		{"slow", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "timed out after"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			t.Setenv("TMP", temp)
			server := site(t, test.h)
			s := tools(t, Options{Hosts: anywhere})
			if test.name == "slow" {
				s.downloadTime = 50 * time.Millisecond
			}
			call, err := s.download().Prepare(t.Context(), `{"url":"`+server.URL+`","path":"a/b"}`)
			if err != nil {
				t.Fatal(err)
			}
			_, err = call.Run(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			for _, dir := range []string{s.ws.Dir(), temp} {
				left, err := os.ReadDir(dir)
				if err != nil || len(left) > 0 && dir == s.ws.Dir() || len(left) > 0 && strings.HasPrefix(left[0].Name(), "tenon-download") {
					t.Errorf("%v is left, error %v", left, err)
				}
			}
		})
	}
}

func TestDownloadStaysInTheWorkspace(t *testing.T) {
	server := site(t, send("", "new"))
	for _, path := range []string{"../a", "/a", ""} {
		if _, err := run(t, tools(t, Options{Hosts: anywhere}).download(), `{"url":%q,"path":%q}`, server.URL, path); err == nil {
			t.Errorf("%q is written", path)
		}
	}
	_, err := run(t, tools(t, Options{Hosts: anywhere}).download(), `{"url":%q,"path":"../a"}`, server.URL)
	if _, ok := errors.AsType[*workspace.OutsideError](err); !ok {
		t.Errorf("error %v", err)
	}
	if _, err := run(t, tools(t, Options{}).download(), `{"url":%q,"path":"a"}`, server.URL); err == nil {
		t.Error("a private address is reached")
	}
}
