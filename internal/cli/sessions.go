package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessions() *cobra.Command {
	c := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, show, export, import, delete and rename sessions",
		Long:    "List, show, export, import, delete and rename sessions. An ID may be shortened as long as it means one session.",
		Args:    cobra.ArbitraryArgs,
		RunE:    group,
	}
	c.AddCommand(p.sessionsList(), p.sessionsShow(), p.sessionsExport(), p.sessionsImport(), p.sessionsDelete(), p.sessionsRename())
	c.AddCommand(p.sessionsWindow(), p.sessionsCache())
	return c
}

func (p *program) sessionsRename() *cobra.Command {
	const maxTitle = 200 // runes
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
			title := strings.Join(strings.Fields(strings.Join(args[1:], " ")), " ")
			title = strings.ToValidUTF8(title, "\uFFFD")
			switch {
			case title == "":
				return usagef(c, "the title is empty")
			case len([]rune(title)) > maxTitle:
				return usagef(c, "the title has more than %d letters", maxTitle)
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

func (p *program) sessionsDelete() *cobra.Command {
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Move sessions to the trash",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "the session's ID is missing")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			for _, prefix := range args {
				err := p.withAppAndSession(c, prefix, func(a *app.App, s session.Summary) error {
					if !yes {
						if err := p.confirm(c, s); err != nil {
							return err
						}
					}
					if err := a.Store.Delete(c.Context(), s.ID); err != nil {
						return err
					}
					if asJSON {
						return writeJSON(p.env.Stdout, map[string]any{"deleted": s.ID})
					}
					_, err := fmt.Fprintf(p.env.Stdout, "deleted %s  %s\n", s.ID, p.shown(s.Title))
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "show what was deleted as JSON, one object to a line")
	p.completeSessions(c, "")
	return c
}

// confirm asks on the terminal whether a session is to be deleted.
func (p *program) confirm(c *cobra.Command, s session.Summary) error {
	if width(p.env.Stdin) == nil {
		return usagef(c, "deleting session %s needs --yes: there is no terminal to ask on", s.ID)
	}
	fmt.Fprintf(p.env.Stderr, "Delete session %s (%s, %s)? [y/N] ", s.ID, harmless(s.Title), count(s.Messages, "message"))
	line, err := bufio.NewReader(p.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return fmt.Errorf("session %s was kept", s.ID)
}

// shown is text as it is written to standard output: harmless when that is a terminal.
func (p *program) shown(text string) string {
	if width(p.env.Stdout) != nil {
		return harmless(text)
	}
	return text
}
