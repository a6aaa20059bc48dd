package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsTag() *cobra.Command {
	c := &cobra.Command{
		Use:   "tag ID [+TAG|-TAG]...",
		Short: "Add tags to a session, take them away, or show them",
		Long: `Add tags to a session, take them away, or without any show them. A tag is one word of letters, digits and the signs . _ - / : and
is kept in lower case. 'tenon sessions list --tag' and 'search --tag' find sessions by it.`,
		Example:            `  tenon sessions tag 4kx +release +urgent -draft`,
		DisableFlagParsing: true, // -TAG is no flag
		ValidArgsFunction:  p.sessionIDs(false),
		RunE: func(c *cobra.Command, args []string) error {
			words, asJSON, err := tagArgs(c, args)
			if err != nil {
				return err
			}
			if len(words) == 0 {
				return usagef(c, "the session's ID is missing")
			}
			return p.withSession(c, words[0], func(store session.Store, s session.Summary) error {
				tags, err := retagged(c, s.Tags, words[1:])
				if err != nil {
					return err
				}
				if !slices.Equal(tags, s.Tags) {
					if _, err := store.Annotate(c.Context(), s.ID, session.Tags{Tags: tags}); err != nil {
						return err
					}
				}
				if asJSON {
					return writeJSON(p.env.Stdout, map[string]any{"session": s.ID, "tags": append([]string{}, tags...)})
				}
				if len(tags) == 0 {
					_, err := fmt.Fprintf(p.env.Stderr, "session %s has no tags\n", s.ID)
					return err
				}
				_, err = fmt.Fprintf(p.env.Stdout, "%s  %s\n", s.ID, p.shown(tagWords(tags)))
				return err
			})
		},
	}
	c.Flags().Bool("json", false, "as one JSON object") // for help: tagArgs reads it
	return c
}

// tagArgs takes the flags out of the arguments.
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
			return nil, false, usagef(c, "there is no flag %s", a)
		default:
			words = append(words, a)
		}
	}
	return words, asJSON, nil
}

// retagged is tags with some added and others taken away.
func retagged(c *cobra.Command, tags, changes []string) ([]string, error) {
	const most = 50
	out := slices.Clone(tags)
	for _, change := range changes {
		tag, remove := strings.CutPrefix(change, "-")
		tag = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(tag, "+"), "#"))
		if tag == "" || len([]rune(tag)) > most || strings.ContainsFunc(tag, notInTag) {
			return nil, usagef(c, "%q is no tag: write one word of at most %d letters, digits and . _ - / :", change, most)
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

// tagWords is tags for people.
func tagWords(tags []string) string { return "#" + strings.Join(tags, " #") }

// completeTags lets the shell complete tags that are in use.
func (p *program) completeTags(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var tags []string
	_ = p.withStore(nil, func(store session.Store) error { // a shell has no place for an error
		for s, err := range store.List(c.Context(), session.Query{}) {
			if err != nil {
				return err
			}
			tags = append(tags, s.Tags...)
		}
		return nil
	})
	slices.Sort(tags)
	return slices.Compact(tags), cobra.ShellCompDirectiveNoFileComp
}
