package keys_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/internal/keys"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("KEYS_TEST_ADD_TO"); dir != "" { // a second process of TestTwoProcesses
		os.Exit(addMany(dir, os.Getenv("KEYS_TEST_AS")))
	}
	goleak.VerifyTestMain(m)
}

// fake is a keyring in memory that counts who asks it.
type fake struct {
	mu    sync.Mutex
	keys  map[string]string
	asked int
	err   error
	hang  chan struct{} // closed to go on
}

func (f *fake) wait() error {
	if f.hang != nil {
		<-f.hang
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return f.err
}

func (f *fake) Get(service, user string) (string, error) {
	if err := f.wait(); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.keys[service+" "+user]; ok {
		return s, nil
	}
	return "", keyring.ErrNotFound
}

func (f *fake) Set(service, user, secret string) error {
	if err := f.wait(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = map[string]string{}
	}
	f.keys[service+" "+user] = secret
	return nil
}

func (f *fake) Delete(service, user string) error {
	if err := f.wait(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.keys[service+" "+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(f.keys, service+" "+user)
	return nil
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// noKeyring is the options of a store that keeps keys in its file.
func noKeyring() keys.Options { return keys.Options{Getenv: env("TENON_KEYRING", "off")} }

func set(t *testing.T, s *keys.Store, provider, name, secret string) keys.Entry {
	t.Helper()
	e, err := s.Set(t.Context(), provider, name, must(t, secret))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func get(t *testing.T, s *keys.Store, provider, name string) string {
	t.Helper()
	k, err := s.Get(t.Context(), provider, name)
	if err != nil {
		t.Fatal(err)
	}
	return k.Reveal()
}

func TestStore(t *testing.T) {
	ring := &fake{}
	at := time.Date(2026, 11, 1, 12, 0, 0, 999, time.UTC)
	for name, o := range map[string]keys.Options{"keyring": {Keyring: ring}, "file": noKeyring()} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "config")
			o.Now = func() time.Time { return at }
			s := keys.Open(dir, o)
			if list, err := s.List(); len(list) != 0 || err != nil {
				t.Fatal(list, err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("looking makes a directory")
			}
			set(t, s, "anthropic", "", planted)
			set(t, s, "anthropic", "work", "short-key")
			set(t, s, "openai", "", "sk-of-openai-0123456789")
			e := set(t, s, "anthropic", keys.Default, planted+"-new") // keeps its place
			if string(e.Place) != name || !e.Added.Equal(at.Truncate(time.Second)) || e.Hint != "-new" {
				t.Errorf("got %+v", e)
			}
			s = keys.Open(dir, o) // another process
			list, err := s.List()
			if err != nil || len(list) != 3 || list[0] != e || list[1].Hint != "" || list[2].Provider != "openai" {
				t.Fatalf("got %+v, %v", list, err)
			}
			if names, _ := s.Names("anthropic"); !slices.Equal(names, []string{"default", "work"}) {
				t.Errorf("got %v", names)
			}
			if got := get(t, s, "anthropic", ""); got != planted+"-new" {
				t.Errorf("got %s", got)
			}
			data, err := os.ReadFile(filepath.Join(dir, "keys.json"))
			if err != nil || strings.Contains(string(data), planted) != (name == "file") {
				t.Errorf("%s %v", data, err)
			}
			if err := s.Delete(t.Context(), "anthropic", ""); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := s.Get(t.Context(), "anthropic", ""); !errors.Is(err, keys.ErrNotFound) {
					t.Errorf("got %v", err)
				}
				if err := s.Delete(t.Context(), "anthropic", ""); !errors.Is(err, keys.ErrNotFound) {
					t.Errorf("got %v", err)
				}
			}
			if got := get(t, s, "anthropic", "work"); got != "short-key" {
				t.Errorf("got %s", got)
			}
		})
	}
	if len(ring.keys) != 2 {
		t.Errorf("in the keyring: %d", len(ring.keys))
	}
}

// The system's own keyring, as its library imitates it.
func TestSystemKeyring(t *testing.T) {
	keyring.MockInit()
	s := keys.Open(t.TempDir(), keys.Options{})
	if e := set(t, s, "anthropic", "", planted); e.Place != keys.InKeyring {
		t.Errorf("got %+v", e)
	}
	if secret, err := keyring.Get("tenon", "anthropic/default"); secret != planted || err != nil {
		t.Error("it is not in the keyring", err)
	}
	if get(t, s, "anthropic", "") != planted {
		t.Error("another key comes back")
	}
	if err := s.Delete(t.Context(), "anthropic", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := keyring.Get("tenon", "anthropic/default"); !errors.Is(err, keyring.ErrNotFound) {
		t.Error("it is still in the keyring")
	}
	keyring.MockInitWithError(errors.New("dbus-launch not found"))
	if e := set(t, s, "anthropic", "", planted); e.Place != keys.InFile {
		t.Errorf("got %+v", e)
	}
}

// The keyring is asked for a key that is there, and for nothing else.
func TestKeyringIsLeftAlone(t *testing.T) {
	dir, ring := t.TempDir(), &fake{}
	o := keys.Options{Keyring: ring, Getenv: env("ANTHROPIC_API_KEY", " "+planted+"\n", "BAD", "a b")}
	set(t, keys.Open(dir, noKeyring()), "openai", "", "sk-in-the-file")
	s := keys.Open(dir, o)
	names, err := s.Names("anthropic", "NONE", "ANTHROPIC_API_KEY", "BAD")
	if err != nil || !slices.Equal(names, []string{"$ANTHROPIC_API_KEY", "$BAD"}) {
		t.Fatal(names, err)
	}
	if get(t, s, "anthropic", "$ANTHROPIC_API_KEY") != planted || get(t, s, "openai", "") != "sk-in-the-file" {
		t.Error("another key comes back")
	}
	if _, err := s.Get(t.Context(), "anthropic", "$BAD"); err == nil || !strings.Contains(err.Error(), "white space") {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"", "$NONE", "other"} {
		if _, err := s.Get(t.Context(), "anthropic", name); !errors.Is(err, keys.ErrNotFound) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := s.List(); err != nil || ring.asked != 0 {
		t.Errorf("the keyring was asked %d times, %v", ring.asked, err)
	}
	set(t, s, "anthropic", "", planted)
	if ring.asked = 0; get(t, s, "anthropic", "") != planted || ring.asked != 1 {
		t.Errorf("the keyring was asked %d times", ring.asked)
	}
	ring.keys = nil // another program emptied it
	if _, err := s.Get(t.Context(), "anthropic", ""); !errors.Is(err, keys.ErrNotFound) || !strings.Contains(err.Error(), "add it again") {
		t.Errorf("got %v", err)
	}
	if err := s.Delete(t.Context(), "anthropic", ""); err != nil {
		t.Error(err)
	}
}

func TestKeyringThatFails(t *testing.T) {
	dir, ring := t.TempDir(), &fake{}
	s := keys.Open(dir, keys.Options{Keyring: ring})
	set(t, s, "anthropic", "", planted)
	ring.err = errors.New("locked")
	off := keys.Open(dir, noKeyring())
	for _, s := range []*keys.Store{s, off} {
		if _, err := s.Get(t.Context(), "anthropic", ""); !errors.Is(err, keys.ErrUnavailable) || !strings.Contains(err.Error(), "TENON_KEYRING") {
			t.Errorf("got %v", err)
		}
		if err := s.Delete(t.Context(), "anthropic", ""); !errors.Is(err, keys.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	if list, _ := s.List(); len(list) != 1 {
		t.Error("a key is forgotten that is still in the keyring")
	}
	if e := set(t, s, "anthropic", "", planted+"2"); e.Place != keys.InFile {
		t.Errorf("got %+v", e)
	}
	if get(t, off, "anthropic", "") != planted+"2" {
		t.Error("the key is not in the file")
	}
	ring.err = nil
	if e := set(t, s, "anthropic", "", planted+"3"); e.Place != keys.InKeyring {
		t.Errorf("got %+v", e)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "keys.json")); strings.Contains(string(data), planted) {
		t.Error("the key is still in the file")
	}
}

// A keyring that hangs is given up after two seconds, once. A key that it takes later is taken back.
func TestKeyringThatHangs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ring := &fake{}
		set(t, keys.Open(dir, keys.Options{Keyring: ring}), "anthropic", "", planted)
		ring.hang = make(chan struct{})
		s, start := keys.Open(dir, keys.Options{Keyring: ring}), time.Now()
		for range 2 {
			if _, err := s.Get(t.Context(), "anthropic", ""); !errors.Is(err, keys.ErrUnavailable) || !strings.Contains(err.Error(), "within 2s; set TENON_KEYRING=off") {
				t.Errorf("got %v", err)
			}
		}
		s = keys.Open(dir, keys.Options{Keyring: ring})
		for range 2 {
			if e := set(t, s, "openai", "", planted); e.Place != keys.InFile {
				t.Errorf("got %+v", e)
			}
		}
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("it took %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		s = keys.Open(dir, keys.Options{Keyring: ring})
		if _, err := s.Get(ctx, "anthropic", ""); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Get(ctx, "anthropic", ""); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Set(ctx, "x", "", must(t, planted)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		close(ring.hang)
		synctest.Wait()
		if len(ring.keys) != 1 {
			t.Errorf("in the keyring: %d keys", len(ring.keys))
		}
	})
}

func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	dir := filepath.Join(t.TempDir(), "a", "config")
	s, path := keys.Open(dir, noKeyring()), filepath.Join(dir, "keys.json")
	set(t, s, "anthropic", "", planted)
	for p, want := range map[string]os.FileMode{dir: 0o700, path: 0o600, path + ".lock": 0o600} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", filepath.Base(p), info.Mode(), err)
		}
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o620, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(t.Context(), "anthropic", "")
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("chmod 600 %q", path)) {
			t.Errorf("%v: got %v", mode, err)
		}
		if _, err := s.Set(t.Context(), "x", "", must(t, planted)); err == nil {
			t.Errorf("%v: it is written", mode)
		}
	}
}

// A file that cannot be understood is an error for everybody, and stays as it is.
func TestDamagedFile(t *testing.T) {
	entry := `{"provider":"p","name":"n","place":"file","key":"` + planted + `"}`
	for name, text := range map[string]string{
		"empty":           "",
		"cut":             `{"version":1,"keys":[{"provider":"anthropic","name":"default","key":"` + planted,
		"another shape":   `{"version":1,"keys":"` + planted + `"}`,
		"another version": `{"version":2,"keys":[]}`,
		"twice":           `{"version":1,"keys":[` + entry + `,` + entry + `]}`,
		"no name":         `{"version":1,"keys":[{"provider":"p","place":"file","key":"` + planted + `"}]}`,
		"no key":          `{"version":1,"keys":[{"provider":"p","name":"n","place":"file"}]}`,
		"a broken key":    `{"version":1,"keys":[{"provider":"p","name":"n","place":"file","key":"` + planted + ` x"}]}`,
		"no place":        `{"version":1,"keys":[{"provider":"p","name":"n","key":"` + planted + `"}]}`,
		"large":           strings.Repeat(" ", 8<<20+1),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "keys.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := keys.Open(dir, keys.Options{Keyring: &fake{}, Getenv: env("VAR", planted)})
			names, nameErr := s.Names("p", "VAR")
			if len(names) != 1 {
				t.Error("the environment does not count any more")
			}
			_, listErr := s.List()
			_, getErr := s.Get(t.Context(), "p", "n")
			_, setErr := s.Set(t.Context(), "p", "n", must(t, planted))
			for _, err := range []error{nameErr, listErr, getErr, setErr, s.Delete(t.Context(), "p", "n")} {
				if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v", err)
				}
				if err != nil && strings.Contains(err.Error(), planted) {
					t.Errorf("the error shows the key: %v", err)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != text {
				t.Error("the file has changed")
			}
		})
	}
}

func TestFileThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "keys.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, plain} {
		s := keys.Open(dir, noKeyring())
		if _, err := s.Set(t.Context(), "p", "", must(t, planted)); err == nil {
			t.Errorf("%s: the key is kept", dir)
		}
		if _, err := s.List(); err == nil {
			t.Errorf("%s: there is a list", dir)
		}
	}
}

// Without a home there is no file of keys, least of all that of the project one is in.
func TestNoPlaceForKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("keys.json", []byte(`{"version":1,"keys":[{"provider":"p","name":"n","place":"file","key":"`+planted+`"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := keys.Open("", keys.Options{Keyring: &fake{}, Getenv: env("VAR", planted)})
	if list, err := s.List(); len(list) != 0 || err != nil {
		t.Errorf("got %+v, %v", list, err)
	}
	if names, err := s.Names("p", "VAR"); !slices.Equal(names, []string{"$VAR"}) || err != nil || len(s.Known()) != 0 {
		t.Errorf("got %v, %v", names, err)
	}
	if _, err := s.Get(t.Context(), "p", "n"); !errors.Is(err, keys.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	_, err := s.Set(t.Context(), "p", "n", must(t, planted))
	for _, err := range []error{err, s.Delete(t.Context(), "p", "n")} {
		if err == nil || !strings.Contains(err.Error(), "TENON_CONFIG_DIR") {
			t.Errorf("got %v", err)
		}
	}
	if files, _ := os.ReadDir("."); len(files) != 1 {
		t.Errorf("it leaves %v", files)
	}
}

// A process that died while it wrote the file leaves keys behind; they go with the next change.
func TestWhatAProcessLeftGoes(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "keys.json.tmp")
	if err := os.WriteFile(left, []byte(planted), 0o400); err != nil {
		t.Fatal(err)
	}
	s := keys.Open(dir, noKeyring())
	set(t, s, "p", "", "sk-of-another-key")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, _ := os.ReadFile(filepath.Join(dir, f.Name())); strings.Contains(string(data), planted) {
			t.Errorf("%s still has the key", f.Name())
		}
	}
}

// What could not be written down is not left in the keyring, where no command would find it.
func TestKeyThatCannotBeListedIsNotKept(t *testing.T) {
	dir, ring := t.TempDir(), &fake{}
	if err := os.MkdirAll(filepath.Join(dir, "keys.json.tmp", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Open(dir, keys.Options{Keyring: ring}).Set(t.Context(), "p", "", must(t, planted)); err == nil {
		t.Error("the key is kept")
	}
	if len(ring.keys) != 0 || ring.asked == 0 {
		t.Errorf("in the keyring: %d keys, asked %d times", len(ring.keys), ring.asked)
	}
}

func TestSetRefuses(t *testing.T) {
	s := keys.Open(t.TempDir(), noKeyring())
	for _, n := range [][2]string{{"", "a"}, {"a/b", "a"}, {"a", "$HOME"}, {"a", "b c"}, {"a", strings.Repeat("n", 65)}, {"ä", "a"}} {
		if _, err := s.Set(t.Context(), n[0], n[1], must(t, planted)); err == nil {
			t.Errorf("%q is taken", n)
		}
	}
	if _, err := s.Set(t.Context(), "a", "", keys.Key{}); err == nil {
		t.Error("no key is kept")
	}
	for i := range 200 {
		set(t, s, "a", fmt.Sprint(i), planted)
	}
	if _, err := s.Set(t.Context(), "a", "more", must(t, planted)); err == nil {
		t.Error("there is no end of keys")
	}
	set(t, s, "a", "7", planted) // one that is there may change
}

const each = 10

// addMany adds keys as a process of its own.
func addMany(dir, as string) int {
	s := keys.Open(dir, noKeyring())
	for i := range each {
		key, err := keys.New(planted)
		if err == nil {
			_, err = s.Set(context.Background(), as, fmt.Sprint(i), key)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// Known returns all keys of the file. It cannot return those of the keyring.
func TestFiled(t *testing.T) {
	dir, ring := t.TempDir(), &fake{}
	set(t, keys.Open(dir, keys.Options{Keyring: ring}), "openai", "", "sk-in-the-keyring")
	s := keys.Open(dir, noKeyring())
	if got := s.Known(); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	set(t, s, "anthropic", "", planted)
	if ring.asked = 0; !slices.Equal(s.Known(), []string{planted}) || ring.asked != 0 {
		t.Errorf("got %q", s.Known())
	}
}

// Processes that add keys at once lose none.
func TestTwoProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "config")
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), "KEYS_TEST_ADD_TO="+dir, fmt.Sprint("KEYS_TEST_AS=p", n))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	s := keys.Open(dir, noKeyring())
	wg.Go(func() { // a reader never sees half of it
		for range 100 {
			if _, err := s.List(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	list, err := s.List()
	if err != nil || len(list) != 3*each {
		t.Errorf("%d keys, %v", len(list), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A caller can cancel its wait for the lock.
func TestWaitingForTheLockEnds(t *testing.T) {
	ring := &fake{hang: make(chan struct{})}
	dir := t.TempDir()
	holder := make(chan error)
	go func() {
		_, err := keys.Open(dir, keys.Options{Keyring: ring, Timeout: time.Hour}).Set(context.Background(), "a", "", must(t, planted))
		holder <- err
	}()
	defer func() {
		close(ring.hang)
		if err := <-holder; err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	waiter := keys.Open(dir, keys.Options{Keyring: ring, Timeout: time.Hour})
	if _, err := waiter.Set(ctx, "b", "", must(t, planted)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"version":1,"keys":[{"provider":"p","name":"n","place":"file","added":"2026-01-01T00:00:00Z","key":"sk-0123456789"}]}`))
	f.Add([]byte(`{"version":1,"keys":[{"provider":"p","name":"n","place":"keyring"}]}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "keys.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := keys.Open(dir, noKeyring())
		list, err := s.List()
		if err != nil {
			return
		}
		for _, e := range list {
			if k, err := s.Get(t.Context(), e.Provider, e.Name); e.Place == keys.InFile && (err != nil || k.IsZero()) {
				t.Errorf("a key that is listed is not there: %v", err)
			}
		}
	})
}

func BenchmarkNames(b *testing.B) {
	dir := b.TempDir()
	s := keys.Open(dir, noKeyring())
	for i := range 5 {
		if _, err := s.Set(b.Context(), "anthropic", fmt.Sprint(i), must(b, planted)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Names("anthropic"); err != nil {
			b.Fatal(err)
		}
	}
}
