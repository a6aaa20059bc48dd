package gitdir

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// samples are readable settings. Git and its helpers write some of them. An attacker who wants to hide something might write the others.
func samples() []string {
	return []string{
		"",
		"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
		"[core]\r\n\tbare = false\r\n",
		"[remote \"origin\"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
			"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
		"[a]b=c",
		"[a] b = c ; d = e\n",
		"[a]\nb\nc = \n",
		"[A.B]\nC = d\n",
		"[a \"B \\\"c\\\\ ] d\"]\ne = f\n",
		"[a]\nb = \"c # d\" ; e\n",
		"[a]\nb = c\\\n  d\\\ne\n",
		"[a]\nb = c\\\n\nd = e",
		"[a]\nb =   c  d\te  \n",
		"[a]\nb = \"  c\"\"d\" e\n",
		"[a]\nb = \\t\\n\\\"\\\\\n",
		"# a\n; [b]\n[c]#d\ne=f#g\n",
		"[a][b]\nc = d\n",
		"[a-b]\nc-d2 = e\n",
		"[a \"ä\"]\nb = ü\n",
		"[a]\nb=\"x\\\ny\"\n",
	}
}

// The parser reads the same settings as git.
func TestConfigIsReadAsGitDoes(t *testing.T) {
	for _, text := range samples() {
		all, err := parseConfig([]byte(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		var ours strings.Builder
		for _, s := range all {
			key := s.section + "." + s.name
			if s.sub != "" {
				key = s.section + "." + s.sub + "." + s.name
			}
			if ours.WriteString(key); !s.bare {
				ours.WriteString("\n" + s.value)
			}
			ours.WriteByte(0)
		}
		for _, form := range []string{text, string(writeConfig(all))} {
			if git, err := gitReads(t, form); err != nil || git != ours.String() {
				t.Errorf("%q as %q: git reads %q (%v), we %q", text, form, git, err, ours.String())
			}
		}
	}
}

func gitReads(t *testing.T, text string) (string, error) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "config", "-f", file, "--no-includes", "--list", "-z").Output()
	return string(out), err
}

func TestConfigThatIsNotPlain(t *testing.T) {
	for _, text := range []string{
		"a = b\n", "[", "[]", "[a", "[a b]\n", "[a \"b]\n", "[a \"b\" ]\n", "[a \"b\nc\"]\n", "[a \"\"]\nb=c\n", "[a.]\nb = c\n",
		"[a.b \"c\"]\nd = e\n",
		"[a]\nb c = d\n", "[a]\n2b = c\n", "[a]\nb = \"c\n", "[a]\nb = \\x\n", "[a]\nb = \\b\n", "[a]\nb = c\\",
		"[a]\n= b\n", "[a]\nb = c\rd\n", "[a]\nb = \x00\n",
		"\ufeff[a]\nb = c\n", "[a]\nb = \x1b[2J\n", "[a_b]\nc = d\n", "[a]\nb_c = d\n", "[a]\nb # c\n",
	} {
		if all, err := parseConfig([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, all)
		}
	}
}

func TestHarmlessSettings(t *testing.T) {
	for text, want := range map[string]bool{
		"[core]\nbare = false":                              true,
		"[CORE]\nBARE = false":                              true,
		"[core \"x\"]\nbare = false":                        false,
		"[core]\nfsmonitor = false":                         true,
		"[core]\nfsmonitor":                                 false,
		"[core]\nfsmonitor = true":                          false,
		"[core]\nfsmonitor = x":                             false,
		"[core]\nhooksPath = x":                             false,
		"[core]\nsshCommand = x":                            false,
		"[core]\neditor = x":                                false,
		"[include]\npath = x":                               false,
		"[includeIf \"gitdir:x\"]\npath = x":                false,
		"[alias]\nx = status":                               false,
		"[filter \"x\"]\nclean = x":                         false,
		"[diff \"x\"]\ntextconv = x":                        false,
		"[merge \"x\"]\ndriver = x":                         false,
		"[credential]\nhelper = x":                          false,
		"[gpg]\nprogram = x":                                false,
		"[url \"x\"]\ninsteadOf = y":                        false,
		"[user]\nname = x":                                  true,
		"[remote \"a\"]\nurl = https://example.com/x":       true,
		"[remote \"a\"]\nurl = ssh://me@example.com:22/x":   true,
		"[remote \"a\"]\nurl = me@example.com:x/y":          true,
		"[remote \"a\"]\nurl = ../x":                        true,
		"[remote \"a\"]\nurl = file:///x":                   true,
		"[remote \"a\"]\nurl = ext::sh -c x":                false,
		"[remote \"a\"]\nurl = ssh://-oProxyCommand=x/y":    false,
		"[remote \"a\"]\nurl = ssh://me@-oProxyCommand=x/y": false,
		"[remote \"a\"]\nurl = -oProxyCommand=x:y":          false,
		"[remote \"a\"]\nurl = me@-x:y":                     false,
		"[remote \"a\"]\nurl = foo://x":                     false,
		"[remote \"a\"]\nurl = a\\nb":                       false,
		"[remote \"a\"]\nurl":                               false,
		"[remote \"a\"]\nuploadpack = x":                    false,
		"[remote \"a\"]\nvcs = x":                           false,
		"[remote]\nurl = x":                                 false,
		"[branch \"a.b\"]\nremote = origin":                 true,
		"[branch \"a\"]\nremote = .":                        true,
		"[branch \"a\"]\nremote = ext::x":                   false,
		"[branch \"a\"]\nmergeOptions = -s x":               false,
		"[submodule \"a\"]\nupdate = checkout":              true,
		"[submodule \"a\"]\nupdate = !x":                    false,
		"[submodule.a]\nactive = true":                      true,
		"[extensions]\nworktreeConfig = true":               true,
		"[extensions]\nrefStorage = reftable":               true,
		"[extensions]\nrefStorage = x":                      false,
		"[unknown]\nkey = x":                                false,
	} {
		all, err := parseConfig([]byte(text))
		if err != nil || len(all) != 1 || all[0].harmless() != want {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, text := range samples() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseConfig(data)
		if err != nil {
			return
		}
		text := writeConfig(all)
		again, err := parseConfig(text)
		if err != nil || !slices.Equal(again, all) {
			t.Errorf("%q is %v, written as %q and read as %v, %v", data, all, text, again, err)
		}
		for _, s := range all {
			if s.harmless() && strings.Contains(fmt.Sprint(s), "::") && strings.HasSuffix(s.key(), "url") {
				t.Errorf("%q has %v", data, s)
			}
		}
	})
}
