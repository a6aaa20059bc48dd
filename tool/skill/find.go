package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// FileName is the name of the file that makes a folder a skill.
const FileName = "SKILL.md"

// The bounds of what is looked at.
const (
	maxFront       = 16 << 10 // bytes in which the front matter must end
	maxSkills      = 500      // of one folder
	maxDescription = 1024     // characters
)

// Skill is a skill that was found.
type Skill struct {
	Name        string // by which it is loaded
	Description string // when it is of use, in one line
	Dir         string // its directory, absolute, links resolved
}

// Folder is a directory with a directory for each skill.
type Folder struct {
	Dir    string // absolute
	Within string // directory that its skills must lie in when links are resolved; empty: anywhere
}

// Found is what is in folders.
type Found struct {
	Skills   []Skill // sorted by name
	Problems []error // skills that cannot be used, each with its file
}

// Find looks for skills. Of two with one name that of the later folder counts. Folders that do not exist have none.
func Find(folders []Folder) Found {
	byName := make(map[string]Skill)
	var f Found
	for _, folder := range folders {
		entries, err := os.ReadDir(folder.Dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				f.Problems = append(f.Problems, err)
			}
			continue
		}
		for _, e := range entries[:min(len(entries), maxSkills)] {
			if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			s, err := folder.look(e.Name())
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				f.Problems = append(f.Problems, fmt.Errorf("%s: %w", filepath.Join(folder.Dir, e.Name(), FileName), err))
			default:
				byName[s.Name] = s
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		f.Skills = append(f.Skills, byName[name])
	}
	return f
}

// look reads what a skill says of itself.
func (f Folder) look(name string) (Skill, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(f.Dir, name))
	if err != nil {
		return Skill{}, err
	}
	if rel, err := filepath.Rel(f.Within, dir); f.Within != "" && (err != nil || !filepath.IsLocal(rel)) {
		return Skill{}, fmt.Errorf("it lies outside %s", f.Within)
	}
	text, _, err := read(dir, maxFront)
	if err != nil {
		return Skill{}, err
	}
	front, _, err := split(text)
	if err != nil {
		return Skill{}, err
	}
	s := Skill{Name: front["name"], Description: strings.Join(strings.Fields(front["description"]), " "), Dir: dir}
	if s.Name == "" {
		s.Name = name
	}
	if err := checkName(s.Name); err != nil {
		return Skill{}, err
	}
	if s.Description == "" {
		return Skill{}, errors.New("its front matter has no description")
	}
	if runes := []rune(s.Description); len(runes) > maxDescription {
		s.Description = string(runes[:maxDescription]) + "…"
	}
	return s, nil
}

// checkName says what is wrong with the name of a skill.
func checkName(name string) error {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	if name == "" || len(name) > 64 || !plain || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		return fmt.Errorf("the name %q is not 1 to 64 small letters, digits and hyphens, with a letter or digit at both ends", name)
	}
	return nil
}

// read is the first bytes of the file of a skill, and the size of all of it. It leaves the directory through no link.
func read(dir string, most int64) (text string, size int64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", 0, err
	}
	defer root.Close()
	f, err := root.OpenFile(FileName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", 0, err
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufffd"), info.Size(), nil
}
