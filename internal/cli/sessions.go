package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessions() *cobra.Command {
	c := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, find, resume, fork, rewind, export, import and delete sessions",
		Long: `Look at sessions, find them, go on with them, take them back, move them elsewhere, and tidy up. An ID may be shortened as long as it
means one session; shells complete it.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(p.sessionsList(), p.sessionsShow(), p.sessionsExport(), p.sessionsImport(), p.sessionsDelete(), p.sessionsRename())
	c.AddCommand(p.sessionsResume(), p.sessionsFork(), p.sessionsRewind(), p.sessionsSearch(), p.sessionsRestore(), p.sessionsPrune())
	c.AddCommand(p.sessionsTag(), p.sessionsNote(), p.sessionsPin(), p.sessionsUnpin(), p.sessionsPins())
	c.AddCommand(p.sessionsWindow(), p.sessionsCompact(), p.sessionsCache(), p.sessionsCheck())
	return c
}

func (p *program) sessionsRename() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "rename ID TITLE...",
		Short: "Give a session another title",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactArgs("the session's ID", "the title")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			title, err := titleOf(c, strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				if _, err := store.Annotate(c.Context(), s.ID, session.Title{Title: title}); err != nil {
					return err
				}
				s.Title, s.Named = title, true
				if asJSON {
					return writeJSON(p.env.Stdout, s)
				}
				_, err := fmt.Fprintf(p.env.Stdout, "%s  %s\n", s.ID, p.shown(title))
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "show the session as JSON")
	p.completeSessions(c, "")
	return c
}

// titleOf is a title as it is kept.
func titleOf(c *cobra.Command, text string) (string, error) {
	const most = 200 // runes
	title := strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	switch {
	case title == "":
		return "", usagef(c, "the title is empty")
	case len([]rune(title)) > most:
		return "", usagef(c, "the title has more than %d letters", most)
	}
	return title, nil
}

// shown is text as it is written to standard output: harmless when that is a terminal.
func (p *program) shown(text string) string {
	if width(p.env.Stdout) != nil {
		return harmless(text)
	}
	return text
}
