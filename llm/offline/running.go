package offline

import "strings"

func shellCall(command string) call { return call{"shell", []arg{{"command", command, false}}} }

func (p *play) run(command string) string {
	r := p.one(shellCall(command))
	switch {
	case r.missing:
		return failure(r)
	case denied(r):
		return "I was not permitted to run " + code(command) + ". " + failure(r)
	case exited(r):
		return "The command " + code(command) + " failed:\n\n" + fenced(r.text)
	case strings.TrimSpace(r.text) == "":
		return "The command " + code(command) + " ended without output."
	}
	return code(command) + ":\n\n" + fenced(r.text)
}

// exitCode matches the remark about a failed command at the end of its output.
var exitCode = lazy(`(?i)\[[^\[\]\n]*exit (?:code|status):? ?-?[1-9][0-9]*[^\[\]\n]*\]\s*$`)

// exited reports whether a command failed, according to its result.
func exited(r result) bool { return r.failed || exitCode().MatchString(r.text) }

// recipe has the commands that test and build one kind of project. An overview does not name an empty kind.
type recipe struct{ manifest, kind, test, build string }

// recipes are tried in their order.
var recipes = []recipe{
	{"go.mod", "Go module", "go test ./...", "go build ./..."},
	{"Cargo.toml", "Rust package", "cargo test", "cargo build"},
	{"package.json", "Node package", "npm test", "npm run build"},
	{"pyproject.toml", "Python project", "python3 -m pytest", "python3 -m build"},
	{"setup.py", "", "python3 -m pytest", "python3 setup.py build"},
	{"requirements.txt", "", "python3 -m pytest", ""},
	{"pom.xml", "Maven project", "mvn -q test", "mvn -q package"},
	{"build.gradle", "Gradle project", "gradle test", "gradle build"},
	{"build.gradle.kts", "Gradle project", "gradle test", "gradle build"},
	{"mix.exs", "Elixir project", "mix test", "mix compile"},
	{"pubspec.yaml", "Dart package", "dart test", "dart compile exe"},
	{"Gemfile", "Ruby project", "bundle exec rake test", ""},
	{"composer.json", "PHP package", "composer test", ""},
	{"Makefile", "", "make test", "make"},
}

// runFor runs the tests or the build of the project, according to the manifests at its top.
func (p *play) runFor(v verb) string {
	r := p.one(listCall("", 0))
	if r.failed {
		return failure(r)
	}
	there := make(map[string]bool)
	for _, name := range pathsOf(r.text).paths {
		there[name] = true
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
	return "I found no manifest at the top of the project with a known command. Name the command, such as in `run make check`."
}
