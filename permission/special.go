package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// public are paths outside the workspace that every account of a machine can read and that hold no data of a person: programs, their
// libraries and documentation, and descriptions of the machine.
var public = strings.Fields(`/bin /sbin /lib /lib64 /usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/include /usr/share /usr/local/bin /usr/local/go
	/usr/local/include /usr/local/lib /opt/homebrew/bin /opt/homebrew/include /etc/os-release /etc/lsb-release /etc/debian_version
	/etc/alpine-release /etc/redhat-release /etc/fedora-release /etc/issue /etc/timezone /etc/localtime /etc/shells /etc/services
	/proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /proc/stat /proc/filesystems /proc/swaps`)

// keyFiles are patterns of the names of files that usually hold keys, and plainFiles are templates among them.
var (
	keyFiles = strings.Fields(`.env .env.* *.env .netrc _netrc .pgpass .git-credentials .pypirc .htpasswd .dockercfg .s3cfg .my.cnf
		id_rsa id_dsa id_ecdsa id_ed25519 *.key *key.pem *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk master.key credentials.json secrets.yml
		secrets.yaml secrets.json secrets.toml service-account*.json *.tfstate`)
	plainFiles = strings.Fields(`*.example *.sample *.template *.tmpl *.dist *.defaults example.env sample.env .env.d.ts`)
)

// laterFiles are files and directories that other programs run by themselves: when a person enters or opens the directory, commits,
// installs packages, starts a debugger or another agent, and when CI runs. Some begin with a directory.
var laterFiles = strings.Fields(`.envrc .autoenv.zsh .mise mise.toml .mise.toml .mise.local.toml mise.local.toml
	.vscode .idea .fleet .zed .vs .devcontainer .devcontainer.json .exrc .nvimrc .nvim.lua .vimrc .dir-locals.el .gdbinit .lldbinit
	.husky .githooks .lefthook lefthook.yml lefthook.yaml .lefthook.yml .pre-commit-config.yaml .overcommit.yml .huskyrc .lintstagedrc
	.npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs pnpmfile.cjs .pnp.cjs bunfig.toml pip.conf .bundle rust-toolchain rust-toolchain.toml
	.cargo/config .cargo/config.toml sitecustomize.py usercustomize.py .bashrc .bash_profile .profile .zshrc .zshenv .zprofile
	.claude .claude.json .mcp.json .cursor .windsurf .gemini .codex .continue .opencode opencode.json .aider.conf.yml .kiro .roo
	.github/workflows .github/actions .gitea/workflows .forgejo/workflows .gitlab-ci.yml .gitlab-ci .circleci .travis.yml .buildkite .drone.yml
	.woodpecker .woodpecker.yml .cirrus.yml .semaphore .teamcity .appveyor.yml appveyor.yml azure-pipelines.yml azure-pipelines.yaml
	bitbucket-pipelines.yml Jenkinsfile jenkinsfile cloudbuild.yaml cloudbuild.yml buildspec.yml .tekton`)

// relative reports whether a path in a root has a property there.
func (e *environment) relative(name string, is func(rel string) bool) bool {
	return slices.ContainsFunc(e.roots, func(root string) bool {
		rel, ok := paths.Rel(root, name)
		return ok && is(rel)
	})
}

// RunsLater reports whether a path, relative to a project, is one that other programs run by themselves, or a directory with such paths
// only: .envrc, .vscode/tasks.json, .github/workflows.
func RunsLater(rel string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(rel)), "/")
	for i, part := range parts {
		for _, f := range laterFiles {
			dir, rest, deep := strings.Cut(strings.ToLower(f), "/")
			switch {
			case part != dir:
			case !deep, i+1 == len(parts) || parts[i+1] == rest:
				return true
			}
		}
	}
	return false
}

// holdsKeys reports whether a path, relative to a project, usually holds keys.
func holdsKeys(rel string) bool {
	name := strings.ToLower(path.Base(filepath.ToSlash(rel)))
	fits := func(pattern string) bool { ok, err := path.Match(pattern, name); return ok && err == nil }
	return slices.ContainsFunc(keyFiles, fits) && !slices.ContainsFunc(plainFiles, fits)
}

// expands reports whether a pattern of the shell may name one of the files. A pattern such as *.json may name anything, and counts as
// none of them.
func expands(pattern string, files []string) bool {
	for part := range strings.SplitSeq(pattern, "/") {
		if !strings.ContainsAny(part, "*?[") || strings.Trim(part, "*?") == "" {
			continue
		}
		for _, f := range files {
			name, _, _ := strings.Cut(f, "/")
			name = strings.ReplaceAll(name, "*", "\x01")
			dot, open := name[0] == '.', strings.IndexByte("*?[", part[0]) >= 0
			if dot != (part[0] == '.') && part[0] != '[' || open && !dot && name[0] != '\x01' {
				continue
			}
			if ok, err := path.Match(part, name); ok || err != nil {
				return true
			}
		}
	}
	return false
}
