package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// layer is a cache of the person that shows, read-only, below that of the commands. Changes by a command stay in memory, and vanish with it.
type layer struct{ Path, Below string }

// layers finds the caches of downloads that programs must write to in order to read from them. Without network, a cache of their own is of no use.
func (s *spec) layers(env []string) {
	if s.Level != Namespaces || s.Bubblewrap != "" || s.Open || s.Proxy || s.Caches == "" {
		return
	}
	private, err := os.OpenRoot(s.Caches) // commands write there, and may have made links
	if err != nil {
		return
	}
	defer private.Close()
	for _, c := range cachePlaces(env) {
		if c.layer == "" {
			continue
		}
		name, own := filepath.Join(c.name, c.layer), filepath.Join(c.own, c.layer)
		if below := resolved([]string{own}, s.Writes); len(below) == 1 && !lies(own, s.Writes) && private.MkdirAll(name, 0o700) == nil {
			s.Layers = append(s.Layers, layer{filepath.Join(s.Caches, name), below[0]})
		}
	}
}

// openLayers opens the caches of the person before something covers them.
func (s *spec) openLayers() (fds []int) {
	for _, l := range s.Layers {
		fd, err := openPath(l.Below)
		if err != nil {
			fd = -1
		}
		fds = append(fds, fd)
	}
	return fds
}

// putLayers mounts them. Where the system cannot, as before Linux 5.11, programs download again.
func (s *spec) putLayers(below []int) {
	for i, l := range s.Layers {
		at, err := openPath(l.Path)
		if err == nil && below[i] >= 0 {
			dir := filepath.Join(temporary, "layer-"+strconv.Itoa(i))
			upper, work := filepath.Join(dir, "upper"), filepath.Join(dir, "work")
			if os.MkdirAll(upper, 0o700) == nil && os.Mkdir(work, 0o700) == nil {
				const fd = "/proc/self/fd/"
				_ = unix.Mount("cache", fd+strconv.Itoa(at), "overlay", safeMount, fmt.Sprintf(
					"lowerdir=%s%d:%s%d,upperdir=%s,workdir=%s,userxattr", fd, at, fd, below[i], upper, work))
			}
		}
		for _, fd := range []int{at, below[i]} {
			if fd >= 0 {
				_ = unix.Close(fd)
			}
		}
	}
}
