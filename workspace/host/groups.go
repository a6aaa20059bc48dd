package host

import (
	"maps"
	"slices"
	"strings"
)

// groups are the hosts that programs of an ecosystem need to download packages with their default settings.
var groups = map[string]string{
	// docs.npmjs.com: config registry; classic.yarnpkg.com: config registry
	"@npm": "registry.npmjs.org registry.yarnpkg.com",
	// docs.pypi.org: the index and its files
	"@pypi": "pypi.org files.pythonhosted.org",
	// go.dev/ref/mod: GOPROXY and GOSUMDB; the proxy redirects to the storage for large modules and toolchains
	"@go": "proxy.golang.org sum.golang.org storage.googleapis.com",
	// doc.rust-lang.org/cargo: the sparse index, its files, and the API
	"@crates": "index.crates.io static.crates.io crates.io",
	// maven.apache.org: central repository; docs.gradle.org: wrapper and plugin portal
	"@maven": "repo.maven.apache.org repo1.maven.org plugins.gradle.org plugins-artifacts.gradle.org services.gradle.org downloads.gradle.org",
	// guides.rubygems.org
	"@rubygems": "rubygems.org index.rubygems.org",
	// getcomposer.org: packages; their archives come from @github and others
	"@packagist": "packagist.org repo.packagist.org",
	// learn.microsoft.com/nuget: the index of version 3
	"@nuget": "api.nuget.org",
	// api.github.com/meta: web, API, archives, releases and raw files
	"@github": "github.com api.github.com codeload.github.com *.githubusercontent.com",
	"@gitlab": "gitlab.com",
	// /etc/apt/sources.list of a new system
	"@debian": "deb.debian.org security.debian.org",
	"@ubuntu": "archive.ubuntu.com security.ubuntu.com ports.ubuntu.com",
	"@alpine": "dl-cdn.alpinelinux.org",
	// docs.docker.com: allow list of Docker Hub
	"@docker": "registry-1.docker.io auth.docker.io index.docker.io production.cloudflare.docker.com",
}

// Groups returns the names of all groups, in order.
func Groups() []string { return slices.Sorted(maps.Keys(groups)) }

// Allow says how a person makes a host, with a port or without, or a group reachable. It names the group with the host, if there is one.
func Allow(host string) string {
	for _, g := range Groups() {
		if members, err := Parse(g); err == nil {
			if is, _ := members.Has(host); is {
				host = g
				break
			}
		}
	}
	host = strings.TrimSuffix(host, ":443")
	return "use --network " + host + ", or add " + host + " to sandbox.network in tenon.json"
}
