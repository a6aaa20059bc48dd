package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

const seatbeltPath = "/usr/bin/sandbox-exec"

// Main is for Linux, where the program is started again as a helper. It must be called first in main anyway.
func Main() {}

// Look finds out what this machine can do. Nothing is kept.
func Look() Report {
	r := Report{System: "darwin"}
	if info, err := os.Stat(seatbeltPath); err == nil && info.Mode()&0o111 != 0 {
		r.Seatbelt = true
	} else {
		r.Trouble = seatbeltPath + " is missing"
	}
	return r
}

// Wrap turns a command that was not started into one that runs under a Seatbelt profile, with the same arguments, files and
// directory. Its environment is that of [Environment], and gains what the policy implies: TMPDIR, places for caches,
// proxies. After the command ended, or when it could not be started, the caller closes what Wrap returns.
//
// An [UnavailableError] says that a wall is missing; the command has not run then and must not be started.
func (p *Policy) Wrap(cmd *exec.Cmd) (*Confined, error) {
	if err := p.ready(cmd); err != nil {
		return nil, err
	}
	c := &Confined{Level: p.look().Level(), policy: p}
	if c.Level == "" {
		return nil, &UnavailableError{Wall: "no Seatbelt", Why: p.look().Trouble, Do: "run outside by decision"}
	}
	c.Gaps = []string{
		"processes that leave the group of the command outlive it", "there are no limits", "servers of the command cannot be reached, not even by itself",
		"temporary files of the machine can be read",
	}
	if p.Temp != "" {
		if err := os.MkdirAll(p.Temp, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("sandbox: the directory for temporary files: %w", err), c.Close())
		}
	}
	prof, err := p.profile(c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), c.Close())
	}
	env := Environment(cmd.Environ(), p.Keep, p.Secret)
	if !p.Network.Open && len(p.Network.Hosts) > 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			c.proxy, err = newProxy(p.Network.Hosts, l, func() ([]net.Listener, error) { return []net.Listener{l}, nil })
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sandbox: %w", err), c.Close())
		}
		prof.port = l.Addr().(*net.TCPAddr).Port
	}
	c.dir, _ = filepath.Abs(cmd.Dir)
	env = append(env, p.places(env)...)
	if prof.port > 0 {
		env = append(env, proxies(prof.port, p.Network.Hosts, false, env)...)
	}
	cmd.Env = once(env)
	cmd.Args = slices.Concat([]string{"sandbox-exec", "-p", seatbelt(prof), cmd.Path}, cmd.Args[min(1, len(cmd.Args)):])
	cmd.Path = seatbeltPath
	return c, nil
}

// places are the variables for temporary files and caches.
func (p *Policy) places(env []string) []string {
	temp := p.Temp
	if temp == "" && len(p.Writable) > 0 {
		temp = p.Writable[0]
	}
	dir := p.Caches
	if dir == "" {
		dir = filepath.Join(temp, ".caches")
	}
	return append(caches(dir, p.Writable, env, p.Network.Open || len(p.Network.Hosts) > 0), "TMPDIR="+temp)
}

// profile is the policy with its paths resolved.
func (p *Policy) profile(c *Confined) (profile, error) {
	prof := profile{open: p.Network.Open}
	trees := make([]string, len(p.Writable))
	for i, tree := range p.Writable {
		trees[i] = followed(tree)
	}
	writable := slices.DeleteFunc(slices.Clone(p.Writable), func(path string) bool { // behind a link that a command may have made
		_, err := unbent(path, trees)
		return err != nil && !errors.Is(err, fs.ErrNotExist)
	})
	protected := slices.Clone(p.Protected)
	for _, path := range p.Absent {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			c.kept = append(c.kept, path)
		}
		protected = append(protected, path) // a profile forbids what does not exist, too
	}
	for _, list := range []struct {
		from []string
		to   *[]string
	}{{append(writable, p.Caches), &prof.writes}, {[]string{p.Temp}, &prof.temps}, {protected, &prof.keeps}, {p.Hidden, &prof.hides}, {p.Readable, &prof.shows}} {
		for _, path := range list.from {
			if path != "" {
				*list.to = append(*list.to, followed(path))
			}
		}
	}
	for _, keep := range slices.Concat(prof.keeps, prof.hides) {
		for _, root := range prof.writes {
			for dir := filepath.Dir(keep); paths.Inside(root, dir) && !slices.Contains(prof.pins, dir); dir = filepath.Dir(dir) {
				prof.pins = append(prof.pins, dir)
			}
		}
	}
	return prof, nil
}
