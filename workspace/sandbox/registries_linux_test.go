package sandbox_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// registry is a server with the package left in the forms of npm, of the simple index of Python, and of a module proxy. It listens on an address
// that is not loopback, so that commands reach it through the proxy alone.
func registry(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	var l net.Listener
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			if l, err = net.Listen("tcp", net.JoinHostPort(n.IP.String(), "0")); err == nil {
				break
			}
		}
	}
	if l == nil {
		t.Skip("this machine has no address but loopback, which commands reach without the proxy")
	}
	asked = new(atomic.Int64)
	files := map[string][]byte{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		text, ok := files[strings.TrimSuffix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/simple") && !strings.HasSuffix(r.URL.Path, ".whl") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(text)
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)

	tarball := targz(t, map[string]string{"package/package.json": `{"name":"left","version":"1.0.0"}`, "package/index.js": `console.log("left runs")`})
	sum := sha512.Sum512(tarball)
	files["/left/-/left-1.0.0.tgz"] = tarball
	files["/left"] = fmt.Appendf(nil, `{"name":"left","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"left","version":"1.0.0","dist":{"tarball":%q,"integrity":"sha512-%s"}}}}`,
		server.URL+"/left/-/left-1.0.0.tgz", base64.StdEncoding.EncodeToString(sum[:]))

	files["/simple/left"] = []byte(`<a href="left-1.0.0-py3-none-any.whl">left-1.0.0-py3-none-any.whl</a>`)
	files["/simple/left/left-1.0.0-py3-none-any.whl"] = zipped(t, map[string]string{
		"left.py": `print("left runs")`, "left-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: left\nVersion: 1.0.0\n",
		"left-1.0.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"left-1.0.0.dist-info/RECORD": "left.py,,\nleft-1.0.0.dist-info/METADATA,,\nleft-1.0.0.dist-info/WHEEL,,\nleft-1.0.0.dist-info/RECORD,,\n",
	})

	module := "/go/example.com/left/@v/v1.0.0"
	files[module+".info"] = []byte(`{"Version":"v1.0.0"}`)
	files[module+".mod"] = []byte("module example.com/left\n")
	files[module+".zip"] = zipped(t, map[string]string{
		"example.com/left@v1.0.0/go.mod": "module example.com/left\n", "example.com/left@v1.0.0/left.go": "package left\n\nconst Text = \"left runs\"\n",
	})
	return server.URL, asked
}

func targz(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// With the host of a registry in the list, package managers download from it through the proxy, and what they cached serves the next command
// without network. Without the host they fail, the registry gets no request, and the explanation names the host or the group.
func TestPackageManagers(t *testing.T) {
	for _, test := range []struct{ name, program, vars, line, again string }{
		{
			name: "npm", program: "npm", line: "npm install --no-audit --no-fund left && node node_modules/left", vars: "npm_config_registry=%U",
			again: "rm -rf node_modules && npm ci --no-audit --no-fund && node node_modules/left",
		},
		{
			name: "pip", program: "python3", vars: "PIP_INDEX_URL=%U/simple PIP_TRUSTED_HOST=%H PIP_DISABLE_PIP_VERSION_CHECK=1",
			line: "v/bin/python -m pip install -q left && v/bin/python -c 'import left'",
		},
		{
			name: "go", program: "go", vars: "GOPROXY=%U/go GOSUMDB=off GOFLAGS=-modcacherw GOTOOLCHAIN=local GOCACHE= GOMODCACHE= GOPATH= GO111MODULE=on",
			line:  "printf 'module x\\n\\ngo 1.20\\n\\nrequire example.com/left v1.0.0\\n' >go.mod && go mod download && cat $(go list -mod=mod -m -f '{{.Dir}}' example.com/left)/left.go",
			again: "rm go.sum && go mod download && cat $(go list -mod=mod -m -f '{{.Dir}}' example.com/left)/left.go",
		},
	} {
		if test.name != "go" && !sample.All() {
			continue // npm and pip take many seconds to start
		}
		t.Run(test.name, func(t *testing.T) {
			has(t, test.program)
			url, asked := registry(t)
			address := strings.TrimPrefix(url, "http://")
			name, _, _ := net.SplitHostPort(address)
			fill := strings.NewReplacer("%U", url, "%H", name)
			g := newGround(t)
			g.policy.Caches = g.dir + "/caches"
			for v := range strings.FieldsSeq(fill.Replace(test.vars)) {
				g.vars = append(g.vars, v)
				key, _, _ := strings.Cut(v, "=")
				g.policy.Keep = append(g.policy.Keep, key)
			}
			if test.program == "python3" {
				if got := g.run("python3 -m venv --system-site-packages --without-pip v && v/bin/python -m pip --version"); got.exit != 0 {
					t.Skipf("Python has no pip: %v", got)
				}
			}
			if got := g.run(test.line); got.exit == 0 || asked.Load() != 0 {
				t.Errorf("without network, with %d requests: %v", asked.Load(), got)
			} else if len(got.blocked) == 0 || got.blocked[0].What != sandbox.Connect || !strings.Contains(got.blocked[0].Why, "--network") {
				t.Errorf("the explanation is %v", got)
			}
			g.policy.Network.Hosts = []string{address}
			if got := g.works(test.line); !strings.Contains(got.out, "left runs") || asked.Load() == 0 {
				t.Errorf("with network: %v", got)
			}
			if test.again == "" {
				return
			}
			g.policy.Network.Hosts = nil
			if before := asked.Load(); !strings.Contains(g.works(test.again).out, "left runs") || asked.Load() != before {
				t.Errorf("from the cache, with %d more requests", asked.Load()-before)
			}
			if test.name == "npm" {
				g.personsCache(test.again)
			}
		})
	}
}

// personsCache makes the cache of the workspace that of the person. A command without network uses it in a workspace that has none, and changes
// no file of it.
func (g *ground) personsCache(line string) {
	g.t.Helper()
	if err := os.Rename(g.policy.Caches+"/npm", g.home+"/.npm"); err != nil {
		g.t.Fatal(err)
	}
	before := trees.Of(g.t, g.home+"/.npm")
	if got := g.works(line); !strings.Contains(got.out, "left runs") {
		g.t.Error(got)
	}
	trees.Same(g.t, trees.Of(g.t, g.home+"/.npm"), before)
}
