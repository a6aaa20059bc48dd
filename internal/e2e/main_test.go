package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/internal/cli"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// programName is what the test binary is called when it is to be the program: so no variable has to say it, and the program
// sees those alone that a test sets.
const programName = "tenon"

// TestMain lets the test binary be the program too.
func TestMain(m *testing.M) {
	sandbox.Main()
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == programName {
		dieAtWrite()
		env := cli.System()
		env.Version = "v0.0.0-test"
		os.Exit(cli.Main(context.Background(), os.Args[1:], env))
	}
	if len(os.Args) == 2 && os.Args[1] == languageServer {
		serveLanguage()
		return
	}
	if filepath.Base(os.Args[0]) == resumeName {
		if err := resume(os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if filepath.Base(os.Args[0]) == mcpServerName {
		serveMCP()
		os.Exit(0)
	}
	os.Exit(test(m))
}

// sideBySide is how many tests run at once: most of them wait for a server that fails slowly, so more than there are processors.
const sideBySide = "8"

func test(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", sideBySide); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
