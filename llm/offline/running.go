package offline

import (
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

func shellCall(command string) call { return call{"shell", []arg{{"command", command, false}}} }

func (p *play) run(command string) (string, bool) {
	r, ok := p.one(shellCall(command))
	switch {
	case !ok:
		return "", false
	case r.missing:
		return failure(r), true
	case denied(r):
		return "I was not permitted to run " + code(command) + ". " + failure(r), true
	case exited(r):
		return "The command " + code(command) + " failed:\n\n" + fenced("", r.text), true
	case strings.TrimSpace(r.text) == "":
		return "The command " + code(command) + " ended without output.", true
	}
	return code(command) + ":\n\n" + fenced("", r.text), true
}

// exitCode matches the remark about a command that failed, at the end of its output.
var exitCode = lazy.Compile(`(?i)\[[^\[\]\n]*exit (?:code|status):? ?-?[1-9][0-9]*[^\[\]\n]*\]\s*$`)

// exited reports whether a command failed, as far as its result tells.
func exited(r result) bool { return r.failed || exitCode.MatchString(r.text) }

// recipe is how a kind of project is tested and built.
type recipe struct{ manifest, test, build string }

// recipes are tried in their order.
var recipes = []recipe{
	{"go.mod", "go test ./...", "go build ./..."},
	{"Cargo.toml", "cargo test", "cargo build"},
	{"package.json", "npm test", "npm run build"},
	{"pyproject.toml", "python3 -m pytest", "python3 -m build"},
	{"setup.py", "python3 -m pytest", "python3 setup.py build"},
	{"requirements.txt", "python3 -m pytest", ""},
	{"pom.xml", "mvn -q test", "mvn -q package"},
	{"build.gradle", "gradle test", "gradle build"},
	{"build.gradle.kts", "gradle test", "gradle build"},
	{"mix.exs", "mix test", "mix compile"},
	{"pubspec.yaml", "dart test", "dart compile exe"},
	{"Gemfile", "bundle exec rake test", ""},
	{"composer.json", "composer test", ""},
	{"Makefile", "make test", "make"},
}

// runFor runs the tests or the build of the project, by the manifests at its top.
func (p *play) runFor(v verb) (string, bool) {
	r, ok := p.one(listCall("", 0))
	if !ok {
		return "", false
	}
	if r.failed {
		return failure(r), true
	}
	there := make(map[string]bool)
	for _, name := range pathsOf(r.text).paths {
		there[strings.TrimPrefix(name, "./")] = true
	}
	for _, known := range recipes {
		command := known.test
		if v == runBuild {
			command = known.build
		}
		if there[known.manifest] && command != "" {
			return p.run(command)
		}
	}
	return "I found no manifest at the top of the project that tells me the command. Say it yourself, such as in `run make check`.", true
}
