package overview

import (
	"encoding/xml"
	"path"
	"strings"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// Manifests of compiled languages.

var goRequire = lazy.Compile(`^\s*(?:require\s+)?([\w.~/-]+\.[\w.~/-]+)\s+v\S+(.*)$`)

func readGoMod(_ *Project, m *Manifest, text string) {
	m.Kind = "Go module"
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch f := strings.Fields(line); {
		case len(f) >= 2 && f[0] == "module":
			m.Name = strings.Trim(f[1], `"`)
		case len(f) == 2 && f[0] == "go":
			m.Needs = "Go " + f[1]
		default:
			if g := goRequire.FindStringSubmatch(line); g != nil && !strings.Contains(g[2], "indirect") && !strings.HasPrefix(line, "replace") {
				m.Deps = append(m.Deps, g[1])
			}
		}
	}
	m.task("build", "go build ./...")
	m.task("test", "go test ./...")
}

func readGoWork(_ *Project, m *Manifest, text string) {
	m.Kind = "Go workspace"
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "use "))
		if strings.HasPrefix(line, "./") {
			m.Members = append(m.Members, path.Clean(line))
		}
	}
}

func readCargo(p *Project, m *Manifest, text string) {
	t := readTOML(text)
	pkg := t["package"]
	m.Kind, m.Name, m.Purpose = "Rust crate", pkg.get("name"), pkg.get("description")
	if edition := pkg.get("edition"); edition != "" {
		m.Needs = "Rust, edition " + edition
	}
	if ws := t["workspace"]; ws != nil {
		if m.Members = texts(ws.values["members"]); pkg == nil {
			m.Kind = "Rust workspace"
		}
	}
	if deps := t["dependencies"]; deps != nil {
		m.Deps = deps.keys
	}
	if deps := t["dev-dependencies"]; deps != nil {
		m.DevDeps = len(deps.keys)
	}
	m.task("build", "cargo build")
	m.task("test", "cargo test")
	if p.has(m.beside("src/main.rs")) {
		m.task("run", "cargo run")
	}
}

func readPom(_ *Project, m *Manifest, text string) {
	var pom struct {
		ArtifactID   string `xml:"artifactId"`
		Description  string `xml:"description"`
		Dependencies []struct {
			Group    string `xml:"groupId"`
			Artifact string `xml:"artifactId"`
			Scope    string `xml:"scope"`
		} `xml:"dependencies>dependency"`
		Modules []string `xml:"modules>module"`
	}
	_ = xml.Unmarshal([]byte(text), &pom) // what was read before an error still helps
	m.Kind, m.Name, m.Purpose, m.Members = "Maven project", pom.ArtifactID, short(pom.Description, 300), pom.Modules
	for _, d := range pom.Dependencies {
		if d.Scope == "test" {
			m.DevDeps++
			continue
		}
		m.Deps = append(m.Deps, d.Group+":"+d.Artifact)
	}
	m.task("build", "mvn package")
	m.task("test", "mvn test")
}

var gradleDep = lazy.Compile(`(?m)^\s*(implementation|api|compile|runtimeOnly|testImplementation|testCompile)\b[\s(]*["']([^"':]+:[^"':]+)`)

func readGradle(p *Project, m *Manifest, text string) {
	m.Kind = "Gradle project"
	for _, g := range gradleDep.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(g[1], "test") {
			m.DevDeps++
			continue
		}
		m.Deps = append(m.Deps, g[2])
	}
	gradle := "gradle"
	if p.has("gradlew") {
		gradle = "./gradlew"
	}
	m.task("build", gradle+" build")
	m.task("test", gradle+" test")
}

var (
	packageRef = lazy.Compile(`<PackageReference\s+Include="([^"]+)"`)
	framework  = lazy.Compile(`<TargetFrameworks?>([^<]+)<`)
)

func readCsproj(_ *Project, m *Manifest, text string) {
	m.Kind, m.Name = ".NET project", strings.TrimSuffix(path.Base(m.Path), path.Ext(m.Path))
	if g := framework.FindStringSubmatch(text); g != nil {
		m.Needs = g[1]
	}
	for _, g := range packageRef.FindAllStringSubmatch(text, -1) {
		m.Deps = append(m.Deps, g[1])
	}
	m.task("build", "dotnet build")
	m.task("test", "dotnet test")
	if strings.Contains(text, "<OutputType>Exe<") {
		m.task("run", "dotnet run")
	}
}

var (
	cmakeProject = lazy.Compile(`(?i)\bproject\s*\(\s*"?([\w.+-]+)`)
	cmakeProgram = lazy.Compile(`(?i)\badd_executable\s*\(\s*([\w.+-]+)`)
	cmakePackage = lazy.Compile(`(?i)\bfind_package\s*\(\s*([\w.+-]+)`)
)

func readCMake(_ *Project, m *Manifest, text string) {
	m.Kind = "CMake project"
	if g := cmakeProject.FindStringSubmatch(text); g != nil {
		m.Name = g[1]
	}
	for _, g := range cmakeProgram.FindAllStringSubmatch(text, -1) {
		m.Entries = append(m.Entries, "program "+span(g[1]))
	}
	for _, g := range cmakePackage.FindAllStringSubmatch(text, -1) {
		m.Deps = append(m.Deps, g[1])
	}
	m.task("build", "cmake -B build && cmake --build build")
	m.task("test", "ctest --test-dir build")
}

var (
	swiftName = lazy.Compile(`\bname:\s*"([^"]+)"`)
	swiftDep  = lazy.Compile(`\.package\([^)]*url:\s*"([^"]+)"`)
)

func readSwift(_ *Project, m *Manifest, text string) {
	m.Kind = "Swift package"
	if g := swiftName.FindStringSubmatch(text); g != nil {
		m.Name = g[1]
	}
	for _, g := range swiftDep.FindAllStringSubmatch(text, -1) {
		m.Deps = append(m.Deps, strings.TrimSuffix(path.Base(g[1]), ".git"))
	}
	m.task("build", "swift build")
	m.task("test", "swift test")
}
