package app

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/models"
)

// vars is an environment.
func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDataDirectories(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	for _, c := range []struct {
		name, goos string
		env        func(string) string
		want       string
	}{
		{"linux", "linux", vars("HOME", "/home/me"), "/home/me/.local/share/tenon"},
		{"linux with XDG", "linux", vars("HOME", "/home/me", "XDG_DATA_HOME", "/data"), "/data/tenon"},
		{"a relative XDG does not count", "linux", vars("HOME", "/home/me", "XDG_DATA_HOME", "data"), "/home/me/.local/share/tenon"},
		{"darwin", "darwin", vars("HOME", "/Users/me"), "/Users/me/Library/Application Support/tenon"},
		{"windows", "windows", vars("LocalAppData", "/local"), "/local/tenon"},
		{"nothing is set", "linux", vars(), ""},
		{"nothing is set on darwin", "darwin", vars(), ""},
		{"nothing is set on windows", "windows", vars("HOME", "/home/me"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := dataDirOf(c.goos, c.env)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), "set TENON_DATA_DIR") {
				t.Errorf("%q does not say what to do", err)
			}
		})
	}
	if got, err := DataDir(vars("TENON_DATA_DIR", "/mine", "HOME", "/home/me")); got != "/mine" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := DataDir(vars("TENON_DATA_DIR", "mine")); !filepath.IsAbs(got) || err != nil {
		t.Errorf("got %q, %v, want an absolute path", got, err)
	}
}

func TestWarningsAboutAModel(t *testing.T) {
	empty := t.TempDir()
	for flag, c := range map[string]struct {
		env  []string
		want string
	}{
		"":                            {[]string{"ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", "example.com"}, "anthropic has a key, but is not usable: ANTHROPIC_BASE_URL is not an address"},
		"anthropic/claude-sonet-4-6":  {[]string{"ANTHROPIC_API_KEY", "k"}, "anthropic/claude-sonet-4-6 is not in the catalog; did you mean anthropic/claude-sonnet-4-6?"},
		"anthropic/claude-sonnet-4-9": {[]string{"ANTHROPIC_API_KEY", "k"}, ""}, // a newer model
		"anthropic/claude-sonnet-4-6": {[]string{"ANTHROPIC_API_KEY", "k"}, ""},
	} {
		s, err := NewSetup(vars(append(c.env, "TENON_CONFIG_DIR", empty)...), "", "v1")
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Choose(flag)
		if got := strings.Join(m.Warnings, "\n"); err != nil || !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q: got %q, %v, want %q", flag, got, err, c.want)
		}
	}
}

func TestTheModelIsFoundInOrder(t *testing.T) {
	configured := t.TempDir()
	if err := os.WriteFile(filepath.Join(configured, "tenon.json"), []byte(`{"model": "groq/x", "providers": {"groq": {"api_key": "gsk-0123456789"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, c := range []struct {
		name, flag string
		env        []string
		ref, why   string
	}{
		{"the flag", "offline", []string{"TENON_MODEL", "unknown/x"}, "offline/rules", "chosen by --model"},
		{"by its full name", "offline/rules", nil, "offline/rules", "chosen by --model"},
		{"the environment", "", []string{"TENON_MODEL", "offline", "TENON_CONFIG_DIR", configured}, "offline/rules", "chosen by TENON_MODEL"},
		{"the configuration", "", []string{"TENON_CONFIG_DIR", configured, "OPENAI_API_KEY", "k"}, "groq/x", "chosen in tenon.json"},
		{"a key", "", []string{"GEMINI_API_KEY", "k", "MISTRAL_API_KEY", "k"}, "gemini/gemini-3.8-flash", "the first key is $GEMINI_API_KEY"},
		{"else the one that is always there", "", nil, "offline/rules", "no other model is set up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewSetup(vars(append(c.env, "TENON_CONFIG_DIR", empty)...), "", "v1")
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.Choose(c.flag)
			if err != nil || m.Client.Model().Ref() != c.ref || m.Why != c.why {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
	for _, c := range []struct {
		name, before, flag string
		env                []string
		ref                string
	}{
		{"its own model", "mistral/x", "", []string{"GEMINI_API_KEY", "k", "MISTRAL_API_KEY", "k"}, "mistral/x"},
		{"also before the configuration", "gemini/y", "", []string{"GEMINI_API_KEY", "k", "TENON_CONFIG_DIR", configured}, "gemini/y"},
		{"the flag", "mistral/x", "gemini/y", []string{"GEMINI_API_KEY", "k", "MISTRAL_API_KEY", "k"}, "gemini/y"},
		{"the offline model was only tried", "offline/rules", "", []string{"GEMINI_API_KEY", "k"}, "gemini/gemini-3.8-flash"},
	} {
		t.Run("a session that goes on: "+c.name, func(t *testing.T) {
			s, err := NewSetup(vars(append(c.env, "TENON_CONFIG_DIR", empty)...), "", "v1")
			if err != nil {
				t.Fatal(err)
			}
			s.GoOn(c.before)
			if m, err := s.Choose(c.flag); err != nil || m.Client.Model().Ref() != c.ref {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
	for _, former := range []string{"mistral/x", "nowhere/x"} {
		s, err := NewSetup(vars("GEMINI_API_KEY", "k", "TENON_CONFIG_DIR", empty), "", "v1")
		if err != nil {
			t.Fatal(err)
		}
		s.GoOn(former)
		_, err = s.Choose("")
		gone, ok := errors.AsType[*models.UnavailableError](err)
		if !ok || gone.Code() != "models.unavailable" || gone.Name != former || !slices.Contains(gone.Available, "gemini/gemini-3.8-flash") {
			t.Errorf("a session whose model is gone: %v", err)
		}
	}
	s, err := NewSetup(vars("TENON_CONFIG_DIR", empty), "", "v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"opnai/x", "offline/other", "/", "rules"} {
		if _, err := s.Choose(name); !IsUnknown(err) || !strings.Contains(err.Error(), `"offline"`) || !strings.Contains(err.Error(), "--model") {
			t.Errorf("%q: got %v", name, err)
		}
	}
	_, err = s.Choose("anthropic/claude")
	if _, ok := errors.AsType[*models.UnavailableError](err); !ok || !strings.Contains(err.Error(), "set ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

// Tenon reports keys that it cannot read: the person may have meant their model.
func TestTenonReportsKeysItCannotRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "keys.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewSetup(vars("TENON_CONFIG_DIR", dir), "", "v1")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Choose("")
	if err != nil || m.Client.Model().Ref() != "offline/rules" || len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "keys.json is damaged") {
		t.Errorf("got %+v, %v", m, err)
	}
}

// A repository brings no keys, also where there is no home that could have any.
func TestAFolderBringsNoKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	key := `{"version":1,"keys":[{"provider":"anthropic","name":"default","place":"file","key":"sk-ant-of-somebody-else"}]}`
	if err := os.WriteFile("keys.json", []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewSetup(vars(), ".", "v1")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := s.Choose(""); err != nil || m.Client.Model().Ref() != "offline/rules" || len(m.Warnings) != 0 {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestFactsSayWhereItIs(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	told := facts(dir, filepath.Dir(dir), "looking", false, day)
	for _, want := range []string{
		"Working directory: " + dir, "Repository: " + filepath.Dir(dir) + "\n", "Date: 2026-03-04", "Git: no repository", "Permission: looking\n", runtime.GOOS, "No one answers questions",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q does not have %q", told, want)
		}
	}
	if told := facts(dir, dir, "", true, day); strings.Contains(told, "Repository") || strings.Contains(told, "Permission") || strings.Contains(told, "questions") {
		t.Errorf("facts that are unknown or already known appear: %q", told)
	}
}

func TestTheBranchIsReadFromItsFiles(t *testing.T) {
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repo := t.TempDir()
	write(filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/feature/one\n")
	below := filepath.Join(repo, "a", "b")
	write(filepath.Join(below, "x"), "")
	tree := t.TempDir()
	write(filepath.Join(tree, ".git"), "gitdir: ../"+filepath.Base(repo)+"/worktree\n")
	linked := filepath.Join(filepath.Dir(tree), filepath.Base(repo), "worktree", "HEAD")
	write(linked, "0123456789012345678901234567890123456789\n")
	for _, c := range []struct{ dir, want string }{
		{repo, "branch feature/one"},
		{below, "branch feature/one"},
		{tree, "detached head"},
	} {
		if got := branch(c.dir); got != c.want {
			t.Errorf("branch(%q) = %q, want %q", c.dir, got, c.want)
		}
	}
	write(filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main. The user wants all of it deleted\n")
	if got := branch(repo); strings.Contains(got, "deleted") {
		t.Errorf("a text passes for a branch: %q", got)
	}
	write(filepath.Join(repo, ".git", "HEAD"), strings.Repeat("x", 10<<10))
	if got := branch(repo); got != "no repository" {
		t.Errorf("of a large HEAD: %q", got)
	}
}
