package lsp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec is a language server.
type Spec struct {
	Name    string
	Command string // the program, looked up on PATH, or its absolute path
	Args    []string

	// Env returns further environment variables, "NAME=value", when the server starts. Nil: there are none.
	Env func(ctx context.Context) ([]string, error)

	Files    []string // the ends of the names of its files, such as ".go"
	Language string   // the identifier of the language in the protocol; default: by the end of the name
	Install  string   // how people install it; empty: unknown

	marks    []string       // names in the root of a project that uses it
	options  map[string]any // of initialization
	settings map[string]any // by section
	late     time.Duration  // between the first report about the edited file and those about others
	project  string         // a command of tsserver that reports about all files of a project
}

// Known returns the language servers that Tenon knows. It returns new values.
func Known() []Spec {
	temp := filepath.Join(os.TempDir(), "tenon-lsp")
	return []Spec{
		{
			Name: "gopls", Install: "go install golang.org/x/tools/gopls@latest",
			Command: "gopls", Files: []string{".go"}, marks: []string{"go.mod", "go.work"},
			options: map[string]any{"diagnosticsDelay": "10ms", "semanticTokens": false, "symbolScope": "workspace"},
		},
		{
			Name: "typescript-language-server", Install: "npm install -g typescript@5 typescript-language-server",
			Command: "typescript-language-server", Args: []string{"--stdio"},
			Files: strings.Fields(".ts .tsx .mts .cts .js .jsx .mjs .cjs"), marks: []string{"package.json", "tsconfig.json", "jsconfig.json"},
			options: map[string]any{
				"disableAutomaticTypingAcquisition": true, "tsserver": map[string]any{"useSyntaxServer": "never"},
				"preferences": map[string]any{"providePrefixAndSuffixTextForRename": false},
			},
			project: "geterrForProject",
		},
		{
			Name: "pyright", Install: "npm install -g pyright",
			Command: "pyright-langserver", Args: []string{"--stdio"}, Files: []string{".py", ".pyi"},
			marks: strings.Fields("pyproject.toml setup.py setup.cfg requirements.txt pyrightconfig.json Pipfile"),
			settings: map[string]any{
				"python":          map[string]any{"analysis": map[string]any{"diagnosticMode": "workspace"}},
				"python.analysis": map[string]any{"diagnosticMode": "workspace"},
			},
			late: time.Second,
		},
		{
			Name: "rust-analyzer", Install: "rustup component add rust-analyzer",
			Command: "rust-analyzer", Files: []string{".rs"}, marks: []string{"Cargo.toml"},
			options: map[string]any{"cargo": map[string]any{"targetDir": filepath.Join(temp, "rust")}},
		},
		{
			Name: "clangd", Install: "install the package clangd of your system",
			Command: "clangd", Args: []string{"--background-index=false"}, Files: strings.Fields(".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm"),
			marks: strings.Fields("compile_commands.json compile_flags.txt CMakeLists.txt .clangd meson.build"),
		},
		{
			Name: "jdtls", Install: "install the package jdtls of your system",
			Command: "jdtls", Args: []string{"-configuration", filepath.Join(temp, "jdtls", "config"), "-data", filepath.Join(temp, "jdtls", "data")},
			Files: []string{".java"}, marks: strings.Fields("pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts"),
		},
	}
}

// handles reports whether the server is for a file.
func (s Spec) handles(name string) bool {
	return slices.ContainsFunc(s.Files, func(end string) bool { return strings.HasSuffix(filepath.Base(name), end) })
}

// language returns the identifier of the language of a file.
func (s Spec) language(name string) string {
	if s.Language != "" {
		return s.Language
	}
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	for row := range strings.SplitSeq(languages, ";") {
		if words := strings.Fields(row); slices.Contains(words[1:], ext) {
			return words[0]
		}
	}
	return ext
}

// languages are identifiers of languages, each with the ends of names that mean it.
const languages = "typescript ts mts cts; typescriptreact tsx; javascript js mjs cjs; javascriptreact jsx; python py pyi; rust rs; c h; cpp cc cxx hh hpp hxx; objective-c m; objective-cpp mm"

// fits reports whether the names of a directory belong to a project of the server.
func (s Spec) fits(entries []os.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains(s.marks, e.Name()) || !e.IsDir() && s.handles(e.Name())
	})
}

// maxDirs is the number of directories below the root in which Available looks.
const maxDirs = 32

// Available reports whether a server of the list is installed for the files in the root of a project or the directories in it. It starts nothing.
func Available(root string, all []Spec) (found bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(s Spec) bool { return !installed(s, root) })
	if len(all) > 0 {
		visit(root, func(entries []os.DirEntry) bool {
			found = slices.ContainsFunc(all, func(s Spec) bool { return s.fits(entries) })
			return !found
		})
	}
	return found
}

// Found is a server for files of a project.
type Found struct {
	Spec
	Installed bool
}

// Find returns the servers of a list that are for files in the root of a project or the directories in it. It starts nothing.
func Find(root string, all []Spec) (found []Found) {
	all = slices.Clone(all)
	visit(root, func(entries []os.DirEntry) bool {
		all = slices.DeleteFunc(all, func(s Spec) bool {
			fits := s.fits(entries)
			if fits {
				found = append(found, Found{s, installed(s, root)})
			}
			return fits
		})
		return len(all) > 0
	})
	return found
}

// maxEntries is the number of files and directories among which any looks.
const maxEntries = 5000

// any returns a file of the server in a project; empty: there is none among the first ones.
func (s Spec) any(root string) (found string) {
	count := 0
	_ = filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		switch count++; {
		case count > maxEntries:
			return filepath.SkipAll
		case err != nil:
			return nil
		case e.IsDir() && name != root && passedOver(e):
			return filepath.SkipDir
		case e.Type().IsRegular() && s.handles(name):
			found = name
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// passedOver reports whether a directory is none of the project's own.
func passedOver(e os.DirEntry) bool {
	return strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "vendor"
}

// visit calls look with the entries of a root and of the directories in it, until look returns false.
func visit(root string, look func([]os.DirEntry) bool) {
	entries, _ := os.ReadDir(root)
	if !look(entries) {
		return
	}
	count := 0
	for _, e := range entries {
		if !e.IsDir() || passedOver(e) {
			continue
		}
		if count++; count > maxDirs {
			return
		}
		if below, _ := os.ReadDir(filepath.Join(root, e.Name())); !look(below) {
			return
		}
	}
}
