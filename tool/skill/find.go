package skill

import (
	"cmp"
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

	"github.com/tenon-agent/tenon/internal/frontmatter"
	"github.com/tenon-agent/tenon/tool"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// FileName is the name of the file of a skill.
const FileName = "SKILL.md"

// The limits of the search.
const (
	maxFront       = 16 << 10 // bytes of the front matter
	maxSkills      = 500      // of one folder
	maxDescription = 1024     // characters
)

// Skill is a skill on disk.
type Skill struct {
	Name        string // for the tool
	Description string // when to use it, in one line
	Dir         string // its directory, absolute, links resolved
}

// Folder is a directory with a directory for each skill.
type Folder struct {
	Dir    string // absolute
	Within string // directory that contains its skills after links are resolved; empty: any
}

// Found is the skills in folders.
type Found struct {
	Skills   []Skill // sorted by name
	Problems []error // invalid skills, each with its file
}

// Find finds the skills in folders. If two skills have the same name, the one in the later folder counts. A missing folder has none.
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

// look reads the front matter of a skill.
func (f Folder) look(name string) (Skill, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(f.Dir, name))
	if err != nil {
		return Skill{}, err
	}
	if f.Within != "" && !paths.Inside(f.Within, dir) {
		return Skill{}, fmt.Errorf("it is outside %s", f.Within)
	}
	text, _, err := read(dir, maxFront)
	if err != nil {
		return Skill{}, err
	}
	front, _, err := frontmatter.Split(text)
	if err != nil {
		return Skill{}, err
	}
	s := Skill{Name: cmp.Or(front["name"], name), Description: strings.Join(strings.Fields(front["description"]), " "), Dir: dir}
	if err := checkName(s.Name); err != nil {
		return Skill{}, err
	}
	if s.Description == "" {
		return Skill{}, errors.New("its front matter has no description")
	}
	s.Description = tool.Clip(s.Description, maxDescription)
	return s, nil
}

func checkName(name string) error {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	if name == "" || len(name) > 64 || !plain || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		return fmt.Errorf("the name %q is not 1 to 64 lower-case letters, digits and hyphens, with a letter or digit at both ends", name)
	}
	return nil
}

// read returns the first bytes of the file of a skill, and its size. It follows no link out of the directory.
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
		return "", 0, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", 0, err
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufffd"), info.Size(), nil
}
