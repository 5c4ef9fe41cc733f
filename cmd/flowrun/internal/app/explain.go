package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/reference"
)

func (a *app) newExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "explain [WORD]", Short: "Explain a code or a word of the language",
		Long: `explain prints the documentation of a word: the code of a diagnostic, a block, an attribute, a function or a topic. For a word of another tool, such as timer, it shows what to write in flowrun. Without a word it lists the topics and the blocks.

  flowrun explain F0302        why a file was refused, and how to fix it
  flowrun explain step         a block and its attributes
  flowrun explain step.when    an attribute of a block
  flowrun explain substr       a function
  flowrun explain conditions   a topic; others are types, names, limits, exit-codes, secrets, values
  flowrun explain howto        how to do common things; howto.retry is one of the pages
  flowrun explain protocol     the protocol between flowrun and agents
  flowrun explain sources      the protocol between loops and sources of work
  flowrun explain traces       the traces that flowrun sends to an OpenTelemetry collector
  flowrun explain timer        a word of other tools`,
		Args: between(0, 1, "[WORD]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return reference.Words(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				ui.Markdown(a.out, fmt.Sprintf("# Topics\n\n%s\n\n# Blocks\n\n%s\n\nPrint the page of a word with:  flowrun explain WORD\n\nA word can also be a code (F0302), an attribute (step.when), a function (substr), or a word of another tool (matrix).\n",
					strings.Join(reference.Topics(), ", "), strings.Join(reference.Blocks(), ", ")))
				return nil
			}
			text, near, ok := reference.About(words[0])
			if !ok {
				e := &args.Error{Message: fmt.Sprintf("explain does not know %q", words[0]),
					Hint: "It can be a code (F0302), a block (step), an attribute (step.when), a function (substr) or a word of other tools (timer)."}
				if near != "" {
					e.Hint = fmt.Sprintf("Did you mean %q?", near)
				}
				return e
			}
			ui.Markdown(a.out, text)
			return nil
		},
	}
}
