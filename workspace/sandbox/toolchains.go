package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Toolchains returns the paths below home in which programs and their libraries lie, whether they exist or not: the usual ones, and those that
// the environment names. None of them lies in a place of [DefaultHidden].
func Toolchains(home string, getenv func(string) string) []string {
	var places []string
	for _, name := range toolchains() {
		places = append(places, filepath.Join(home, filepath.FromSlash(name)))
	}
	secrets := DefaultHidden(home)
	add := func(dir string) {
		dir = filepath.Clean(dir)
		_, secret := paths.In(secrets, dir)
		if rel, ok := paths.Rel(home, dir); ok && rel != "." && !secret && !slices.Contains(unshared(), rel) {
			places = append(places, dir)
		}
	}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		add(dir)
	}
	for _, name := range toolchainVariables() {
		for _, dir := range filepath.SplitList(getenv(name)) {
			if name == "GOPATH" {
				add(filepath.Join(dir, "bin"))
				dir = filepath.Join(dir, "pkg")
			}
			add(dir)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// toolchainVariables lists variables that name directories of programs and libraries alone.
func toolchainVariables() []string {
	return strings.Fields(`
		GOROOT GOPATH GOMODCACHE RUSTUP_HOME NVM_DIR NVM_BIN NODE_PATH VOLTA_HOME PNPM_HOME BUN_INSTALL PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX
		PYTHONPATH JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME SDKMAN_DIR KOTLIN_HOME SCALA_HOME ANDROID_HOME ANDROID_SDK_ROOT
		ANDROID_NDK_HOME DOTNET_ROOT RBENV_ROOT GEM_HOME GEM_PATH RUBYLIB PERL5LIB OPAMROOT FLUTTER_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
		LD_LIBRARY_PATH LIBRARY_PATH CPATH PKG_CONFIG_PATH`)
}

// unshared lists directories that have more in them than programs, also if the environment names them.
func unshared() []string {
	return strings.Fields(".config .local .local/share .local/state .cache .ssh .gnupg .cargo .m2 .gradle .docker .kube .aws Documents Desktop Downloads Library")
}

// toolchains lists the usual places. Where a directory has credentials too, its parts without them are listed.
func toolchains() []string {
	return strings.Fields(`
		bin .bin .local/bin .local/lib .local/lib64 .local/include .local/opt .local/pipx opt
		go/bin go/pkg sdk .go .goenv .gvm .local/go
		.cargo/bin .cargo/env .cargo/registry .cargo/git .rustup
		.nvm .fnm .local/share/fnm .volta .n n .nodenv .node_modules node_modules .npm-global .npm-packages .local/share/pnpm .local/share/npm
		.pnpm-store .yarn/bin .yarn/berry/cache .yarn/releases .config/yarn/global .bun .deno/bin .cache/deno .cache/node/corepack
		.cache/ms-playwright .cache/puppeteer .cache/Cypress .cache/electron .cache/node-gyp
		.pyenv .local/share/pipx .local/share/uv/python .local/share/uv/tools .virtualenvs .venv .venvs .local/share/virtualenvs
		.local/share/hatch .local/share/pypoetry/venv .local/share/pdm/venvs .conda/envs .conda/pkgs miniconda3 miniforge3 mambaforge anaconda3
		micromamba .cache/pre-commit
		.m2/repository .m2/wrapper .gradle/caches .gradle/wrapper .gradle/jdks .sdkman .jenv .jdks .jabba .ivy2/cache .sbt/boot
		.sbt/launchers .coursier .cache/coursier .local/share/coursier .konan .kotlin
		.rbenv .rvm .gem/ruby .local/share/gem/ruby .bundle/cache .dotnet .nuget/packages .phpenv .composer/vendor .config/composer/vendor
		.mix .hex/packages .kerl .ghcup .cabal/bin .cabal/packages .cabal/store .local/state/cabal/store .stack .opam .elan .juliaup
		.julia/packages .julia/artifacts .julia/compiled .julia/registries .julia/juliaup .julia/environments R perl5 .plenv .perlbrew .luarocks
		.pub-cache/bin .pub-cache/hosted .pub-cache/git .pub-cache/global_packages flutter fvm Android/Sdk .swiftly .zvm .zig
		.asdf .local/share/asdf .local/share/mise .local/share/rtx .proto .linuxbrew .nix-profile .local/state/nix/profiles
		.krew/bin .foundry/bin .arduino15 .platformio .espressif
		.config/git/ignore .config/git/attributes .gitignore .gitignore_global .gitattributes .editorconfig .tool-versions .nvmrc .python-version`)
}
