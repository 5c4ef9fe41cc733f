package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// newManCommand writes the manual pages. Only the makers of packages need it, so the help does not list it.
func (a *app) newManCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages into a folder", Hidden: true, Args: between(1, 1, "DIR"),
		RunE: func(_ *cobra.Command, words []string) error {
			if err := os.MkdirAll(words[0], 0o755); err != nil {
				return err
			}
			return writeManuals(new(app).newRootCommand(), words[0])
		},
	}
}

// writeManuals writes the page of a command and of all commands below it.
func writeManuals(c *cobra.Command, dir string) error {
	if c.Hidden || c.Name() == "help" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, manualName(c)+".1"), []byte(manual(c)), 0o644); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if err := writeManuals(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

func manualName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manual is the manual page of a command in roff.
func manual(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	name := manualName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"flowrun %s\"\n", manualText(strings.ToUpper(name)), manualText(Release))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", manualText(name), manualText(c.Short), manualText(c.UseLine()))
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, part := range strings.Split(strings.TrimSpace(about), "\n\n") {
		b.WriteString(".PP\n")
		literal := false
		for _, line := range strings.Split(part, "\n") {
			if indented := strings.HasPrefix(line, " "); indented != literal {
				b.WriteString(map[bool]string{true: ".RS\n.nf\n", false: ".fi\n.RE\n"}[indented])
				literal = indented
			}
			b.WriteString(manualText(strings.TrimSpace(line)) + "\n")
		}
		if literal {
			b.WriteString(".fi\n.RE\n")
		}
	}
	manualCommands(&b, c)
	manualFlags(&b, "OPTIONS", c.NonInheritedFlags().FlagUsages())
	manualFlags(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags().FlagUsages())
	return b.String()
}

func manualCommands(b *strings.Builder, c *cobra.Command) {
	title := ".SH COMMANDS\n"
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			fmt.Fprintf(b, "%s.TP\n.BR %s (1)\n%s\n", title, manualText(manualName(sub)), manualText(sub.Short))
			title = ""
		}
	}
}

// manualFlag is a line of the library's list of flags: the flag with its value, and what it does.
var manualFlag = lazyregexp.New(`(?m)^ +(-.*?)   +(.*)$`)

func manualFlags(b *strings.Builder, title, flags string) {
	title = ".SH " + title + "\n"
	for _, f := range manualFlag().FindAllStringSubmatch(flags, -1) {
		fmt.Fprintf(b, "%s.TP\n.B %s\n%s\n", title, manualText(f[1]), manualText(f[2]))
		title = ""
	}
}

// manualText escapes a line of text for roff, so that no character of it is an instruction.
func manualText(line string) string {
	var b strings.Builder
	for i, r := range line {
		switch {
		case i == 0 && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r > unicode.MaxASCII:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
