package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project is what a policy says about the folder of a project.
type Project struct {
	Writable, Protected, Absent []string

	Git string // the git directory in which commands work; empty: none
}

// ForProject is how a project is bounded: its folder can be written, and the git directories that belong to it when it is a
// worktree or a submodule; what runs code in them later, outside, cannot: hooks and settings of git (a setting can name a
// program), those of other worktrees and of submodules, and Tenon's own files. What is part of the work tree and seen in a
// diff, such as a Makefile or .vscode, is no different from source code.
//
// A folder without .git gets none: a repository made inside could bring hooks.
func ForProject(root string) Project {
	p := Project{Writable: []string{root}}
	p.Protected = append(p.Protected, filepath.Join(root, ".tenon"))
	p.Absent = append(p.Absent, filepath.Join(root, "tenon.json"))
	dot := filepath.Join(root, ".git")
	info, err := os.Stat(dot)
	switch {
	case err != nil:
		p.Protected = append(p.Protected, dot)
	case info.IsDir():
		p.Git = followed(dot)
		p.gitDir(dot)
	default:
		p.Protected = append(p.Protected, dot)
		if dir := linked(root, dot); dir != "" {
			p.outer(dir)
		}
	}
	return p
}

// gitDir protects what runs code in a git directory.
func (p *Project) gitDir(dir string) {
	p.Protected = append(p.Protected, filepath.Join(dir, "hooks"))
	for _, name := range []string{"worktrees", "modules"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			p.Protected = append(p.Protected, filepath.Join(dir, name))
		}
	}
	for _, name := range []string{"config", "config.worktree", "commondir"} {
		p.Absent = append(p.Absent, filepath.Join(dir, name)) // where git would take other settings from
	}
}

// outer adds the git directory of a worktree or a submodule, which lies outside of its folder.
func (p *Project) outer(dir string) {
	p.Git = followed(dir)
	p.Writable = append(p.Writable, dir)
	common, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if err != nil {
		p.gitDir(dir)
		return
	}
	p.Protected = append(p.Protected, filepath.Join(dir, "commondir"), filepath.Join(dir, "gitdir"))
	p.Absent = append(p.Absent, filepath.Join(dir, "config.worktree"))
	shared := strings.TrimSpace(string(common))
	if !filepath.IsAbs(shared) {
		shared = filepath.Join(dir, shared)
	}
	for _, name := range []string{"objects", "refs", "logs"} {
		p.Writable = append(p.Writable, filepath.Join(shared, name))
	}
}

// linked returns the git directory that the file .git names, if that directory names the folder, too: a file in the folder alone must not make
// any path writable.
func linked(root, dot string) string {
	text, err := os.ReadFile(dot)
	name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	if back, err := os.ReadFile(filepath.Join(name, "gitdir")); err == nil {
		back := strings.TrimSpace(string(back))
		if !filepath.IsAbs(back) {
			back = filepath.Join(name, back)
		}
		if same(back, dot) && filepath.Base(filepath.Dir(name)) == "worktrees" {
			return name
		}
		return ""
	}
	config, err := os.ReadFile(filepath.Join(name, "config"))
	if err != nil || !strings.Contains(filepath.ToSlash(name), "/.git/modules/") {
		return ""
	}
	for line := range strings.Lines(string(config)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == "worktree" && same(filepath.Join(name, strings.TrimSpace(value)), root) {
			return name
		}
	}
	return ""
}

func same(a, b string) bool {
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// DefaultHidden returns the places below home where people and programs keep secrets: keys, credentials of clouds, hosts and
// registries, keyrings, browsers' profiles, and the sessions of agents. Most machines have few of them.
func DefaultHidden(home string) []string {
	var places []string
	for _, name := range slices.Concat(secretPlaces(), secretLibrary()) {
		places = append(places, filepath.Join(home, filepath.FromSlash(name)))
	}
	return places
}

func secretPlaces() []string {
	return []string{
		".ssh", ".gnupg", ".password-store", ".netrc", ".git-credentials", ".authinfo", ".authinfo.gpg", ".pgpass", ".my.cnf",
		".aws", ".azure", ".config/gcloud", ".kube", ".docker/config.json", ".config/containers/auth.json", ".boto", ".s3cfg",
		".oci", ".config/doctl", ".config/hcloud", ".config/rclone", ".terraform.d/credentials.tfrc.json", ".terraformrc",
		".config/gh", ".config/glab-cli", ".config/hub", ".config/git/credentials", ".vault-token", ".config/sops",
		".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
		".m2/settings-security.xml", ".config/pip/pip.conf", ".pip/pip.conf", ".nuget/NuGet/NuGet.Config",
		".config/composer/auth.json", ".composer/auth.json", ".huggingface/token", ".cache/huggingface/token",
		".local/share/keyrings", ".local/share/kwalletd", ".config/op", ".config/1Password", ".config/Bitwarden", ".config/keepassxc",
		".mozilla", ".config/chromium", ".config/google-chrome", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi",
		".config/opera", ".thunderbird", "snap/firefox", "snap/chromium", ".var/app",
		".claude", ".claude.json", ".codex", ".config/opencode", ".local/share/opencode", ".config/crush", ".local/share/crush",
		".gemini", ".config/goose", ".local/share/goose", ".config/github-copilot", ".copilot", ".aider.conf.yml", ".qwen",
		".config/tenon", ".local/share/tenon", ".local/state/tenon",
		".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".lesshst",
		".Xauthority", ".config/age", ".config/tokens",
	}
}

// secretLibrary is what macOS keeps elsewhere.
func secretLibrary() []string {
	return []string{
		"Library/Keychains", "Library/Cookies", "Library/Safari", "Library/Mail", "Library/Messages", "Library/Calendars",
		"Library/Application Support/Google/Chrome", "Library/Application Support/Chromium", "Library/Application Support/Firefox",
		"Library/Application Support/BraveSoftware", "Library/Application Support/Microsoft Edge", "Library/Application Support/Arc",
		"Library/Application Support/1Password", "Library/Application Support/Bitwarden", "Library/Application Support/Claude",
		"Library/Application Support/tenon", "Library/Group Containers", "Library/Containers",
	}
}
