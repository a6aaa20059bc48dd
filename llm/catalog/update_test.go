package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/llm/catalog"
)

// serve is a server of this machine that answers with f.
func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	t.Cleanup(s.Client().CloseIdleConnections)
	return s
}

func sendJSON(w http.ResponseWriter, doc string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprint(w, doc)
}

func TestUpdate(t *testing.T) {
	asked := 0
	tag, doc := `"one"`, small
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sendJSON(w, doc)
	})
	file := filepath.Join(t.TempDir(), "models.json")
	update := func(address string, want bool) {
		t.Helper()
		changed, err := catalog.Update(t.Context(), s.Client(), address, file)
		if err != nil || changed != want {
			t.Fatalf("changed %v, error %v; want %v", changed, err, want)
		}
	}
	update(s.URL+"/m.json", true)
	c, err := catalog.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := c.Model("y", "b"); !ok || m.Context != 1000 {
		t.Errorf("got %+v", m)
	}
	update(s.URL+"/m.json", false)
	update(s.URL+"/elsewhere.json", true) // the tag is of another document
	tag, doc = strings.Repeat("t", 1000), strings.Replace(small, "1000", "2000", 1)
	update(s.URL+"/elsewhere.json", true)
	update(s.URL+"/elsewhere.json", true) // a tag that is too long is not kept
	if c, _ = catalog.Open(file); asked != 5 {
		t.Errorf("asked %d times", asked)
	}
	if m, _ := c.Model("y", "b"); m.Context != 2000 {
		t.Errorf("got %+v", m)
	}
	if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	update(s.URL+"/m.json", true)
	alone(t, file)
}

// alone reports other files in the file's directory.
func alone(t *testing.T, file string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("in the directory of %s: %v, %v", file, entries, err)
	}
}

// Whatever goes wrong, the old catalog stays, and the error says what it was without the secret in the address.
func TestUpdateThatFails(t *testing.T) {
	remote := "http://models.example/m.json"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"not there":       {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) }, "404"},
		"server error":    {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) }, "502"},
		"nothing new":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, "304"},
		"a page":          {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html><p>log in") }, "text/html"},
		"a page as JSON":  {func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, "<!DOCTYPE html>") }, "not a catalog"},
		"too large":       {func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, strings.Repeat(" ", 8<<20+1)) }, "more than"},
		"invalid entry":   {func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, strings.Replace(small, "1000", "-1", 1)) }, "y/b"},
		"of the future":   {func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, strings.Replace(small, "2026", "2999", 1)) }, "yet to come"},
		"half a document": {func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, small[:200]) }, "not a catalog"},
		"broken off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(small)))
			sendJSON(w, small[:200])
		}, "broke off after 200 bytes"},
		"redirect to http": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, remote, http.StatusFound) }, "must be https"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusFound)
		}, "redirects"},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.answer)
			file := kept(t, "2026-01-01")
			before, _ := os.ReadFile(file)
			changed, err := catalog.Update(t.Context(), s.Client(), s.URL+"/m.json?token=planted-secret", file)
			if err == nil || changed || !strings.Contains(err.Error(), c.want) {
				t.Errorf("changed %v, error %v; want one with %q", changed, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "planted-secret") {
				t.Errorf("the error contains the secret: %v", err)
			}
			if after, _ := os.ReadFile(file); string(after) != string(before) {
				t.Error("the file has changed")
			}
			alone(t, file)
		})
	}
}

func TestUpdateRefusesAddresses(t *testing.T) {
	for _, address := range []string{
		"http://models.example/m.json", "http://127.0.0.1.example/m.json", "ftp://localhost/m", "file:///etc/passwd", "models.json", "", "https://", "http://[::1%25lo]:x/", ":",
	} {
		if changed, err := catalog.Update(t.Context(), nil, address, filepath.Join(t.TempDir(), "f")); err == nil || changed {
			t.Errorf("%q is taken", address)
		}
	}
}

func TestUpdateOverTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, small) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains about those who do not trust it
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "models.json")
	if changed, err := catalog.Update(t.Context(), s.Client(), s.URL, file); err != nil || !changed {
		t.Errorf("changed %v, error %v", changed, err)
	}
	if _, err := catalog.Update(t.Context(), &http.Client{Transport: &http.Transport{}}, s.URL, file); err == nil {
		t.Error("an untrusted certificate is accepted")
	}
}

// A file that cannot be written, as on a full disk.
func TestUpdateThatCannotBeKept(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, small) })
	plain := kept(t, "2026-01-01")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(plain, "models.json"), filepath.Join(dir, "none", "models.json"), filepath.Join(dir, "taken")} {
		changed, err := catalog.Update(t.Context(), s.Client(), s.URL, file)
		if err == nil || changed || !strings.Contains(err.Error(), "still there") {
			t.Errorf("%s: changed %v, error %v", filepath.Base(file), changed, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUpdateEndsWithItsContext(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sendJSON(w, small[:100])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	file := kept(t, "2026-01-01")
	done := make(chan error)
	go func() {
		_, err := catalog.Update(ctx, s.Client(), s.URL, file)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	alone(t, file)
}

func TestUpdatesAtOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, small) })
	file := filepath.Join(t.TempDir(), "models.json")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := catalog.Update(t.Context(), s.Client(), s.URL, file); err != nil {
				t.Error(err)
			}
			if _, err := catalog.Open(file); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	alone(t, file)
}
