package sessions

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

func newTag(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "tag ID [+TAG|-TAG]...",
		Short: "Add, remove or show the tags of a session",
		Long: `Add, remove or show the tags of a session. A tag is one word of letters, digits and the
characters . _ - / : and Tenon stores it in lower case. 'tenon sessions list --tag' and
'search --tag' find sessions by tag.`,
		Example:            `  tenon sessions tag 4kx +release +urgent -draft`,
		DisableFlagParsing: true, // -TAG is not a flag
		ValidArgsFunction:  env.SessionIDs(false),
		RunE: func(c *cobra.Command, args []string) error {
			words, asJSON, err := tagArgs(c, args)
			if err != nil {
				return err
			}
			if len(words) == 0 {
				return command.Usagef(c, "the session's ID is missing")
			}
			return env.WithSession(c, words[0], func(store index.Store, s index.Summary) error {
				tags, err := retagged(c, s.Tags, words[1:])
				if err != nil {
					return err
				}
				if !slices.Equal(tags, s.Tags) {
					if _, err := store.Annotate(c.Context(), s.ID, session.Tags{Tags: tags}); err != nil {
						return err
					}
				}
				r := command.Result{JSON: map[string]any{"session": s.ID, "tags": append([]string{}, tags...)}}
				if len(tags) == 0 {
					r.Note = fmt.Sprintf("session %s has no tags", s.ID)
				} else {
					r.Text = fmt.Sprintf("%s  %s\n", s.ID, env.Shown(tagWords(tags)))
				}
				return env.Print(asJSON, r)
			})
		},
	}
	c.Flags().Bool("json", false, "print one JSON object") // for help: tagArgs reads it
	return c
}

// tagArgs separates flags and arguments.
func tagArgs(c *cobra.Command, args []string) (words []string, asJSON bool, err error) {
	for i, a := range args {
		switch {
		case a == "--json":
			asJSON = true
		case a == "-h" || a == "--help":
			return nil, false, pflag.ErrHelp
		case a == "--":
			words = append(words, args[i+1:]...)
			return words, asJSON, nil
		case strings.HasPrefix(a, "--"):
			return nil, false, command.Usagef(c, "unknown flag %s", a)
		default:
			words = append(words, a)
		}
	}
	return words, asJSON, nil
}

func retagged(c *cobra.Command, tags, changes []string) ([]string, error) {
	const most = 50
	out := slices.Clone(tags)
	for _, change := range changes {
		tag, remove := strings.CutPrefix(change, "-")
		tag = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(tag, "+"), "#"))
		if tag == "" || len([]rune(tag)) > most || strings.ContainsFunc(tag, notInTag) {
			return nil, command.Usagef(c, "%q is not a tag; write one word of at most %d letters, digits and . _ - / :", change, most)
		}
		out = slices.DeleteFunc(out, func(t string) bool { return t == tag })
		if !remove {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return out, nil
}

func notInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("._-/:", r)
}

func tagWords(tags []string) string { return "#" + strings.Join(tags, " #") }

func completeTags(env *command.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		var tags []string
		_ = env.WithStore(nil, func(store index.Store) error { // a shell shows no errors
			all, err := collect(store.List(c.Context(), index.Query{}))
			for _, s := range all {
				tags = append(tags, s.Tags...)
			}
			return err
		})
		slices.Sort(tags)
		return slices.Compact(tags), cobra.ShellCompDirectiveNoFileComp
	}
}
