package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/window"
)

// SkillSet holds the skills that an agent may load.
type SkillSet struct {
	Skills  []skill.Skill
	MaxSize int // bytes of one skill for the model; 0: the default

	Inert    int     // number of skills of the project that do not count, because its directory is not trusted
	Problems []error // about unusable skills
}

// Skills finds the skills for work in a directory: the person's, and those of the project if its directory is trusted.
func (s *Setup) Skills(dir string) (SkillSet, error) {
	c := &s.Config.Skills
	if c.Disabled {
		return SkillSet{}, nil
	}
	var own []skill.Folder
	for _, name := range s.ownPlaces("skills") {
		own = append(own, skill.Folder{Dir: name})
	}
	for _, name := range s.paths(dir, c.Paths) {
		own = append(own, skill.Folder{Dir: name})
	}
	set := SkillSet{MaxSize: c.MaxSize}
	if project := ProjectSkills(dir); len(project.Skills)+len(project.Problems) > 0 {
		trusted, err := trusted(s.Dir, dir)
		switch {
		case err != nil:
			return set, err
		case trusted:
			own = append(own, projectSkills(dir)...)
		default:
			set.Inert = len(project.Skills)
		}
	}
	found := skill.Find(own)
	set.Skills, set.Problems = found.Skills, found.Problems
	return set, nil
}

// ownPlaces returns the person's directories with a name, such as skills, for agents. Tenon's own is last.
func (s *Setup) ownPlaces(name string) []string {
	var out []string
	if home := s.getenv("HOME"); home != "" {
		out = append(out, filepath.Join(home, ".claude", name), filepath.Join(home, ".agents", name))
	}
	if s.Dir != "" {
		out = append(out, filepath.Join(s.Dir, name))
	}
	return out
}

// ProjectSkills finds the skills of the project that contains a directory, trusted or not.
func ProjectSkills(dir string) skill.Found { return skill.Find(projectSkills(dir)) }

// projectSkills returns the directories for the skills of a project. No skill may be outside the repository.
func projectSkills(dir string) []skill.Folder {
	root, dirs := projectPlaces(dir, "skills")
	var out []skill.Folder
	for _, name := range dirs {
		out = append(out, skill.Folder{Dir: name, Within: root})
	}
	return out
}

// projectPlaces returns the root of the project that contains a directory, and its directories with a name, such as skills, for agents.
func projectPlaces(dir, name string) (root string, all []string) {
	root = config.ProjectRoot(dir) // which trust is about
	for _, at := range slices.Compact([]string{root, dir}) {
		for _, of := range []string{".claude", ".agents", ".tenon"} {
			all = append(all, filepath.Join(at, of, name))
		}
	}
	return root, all
}

// trusted reports whether the person trusts the project of a directory. The configuration is empty if there is none.
func trusted(configuration, dir string) (bool, error) {
	if configuration == "" {
		return false, nil
	}
	return config.NewTrustStore(configuration).Trusted(config.ProjectRoot(dir))
}

func skillDirs(skills []skill.Skill) []string {
	var out []string
	for _, s := range skills {
		out = append(out, s.Dir)
	}
	return out
}

// loaded reports whether the model still sees a skill that it has loaded before.
func (a *Agent) loaded(ctx context.Context, name string) bool {
	v, err := window.Look(ctx, a.Path())
	if err != nil {
		return false // the model loads it again
	}
	for i, m := range v.Messages {
		if m.Role == llm.RoleTool && m.Tool == skill.Name && v.Blocks[i].Why == window.Said && strings.HasPrefix(m.Text(), skill.Begins(name)) {
			return true
		}
	}
	return false
}
