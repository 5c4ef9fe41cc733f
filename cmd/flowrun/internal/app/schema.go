package app

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/reference"
)

func (a *app) newSchemaCommand() *cobra.Command {
	format := "md"
	c := &cobra.Command{
		Use: "schema", Short: "Print the language as a table: blocks, attributes, names, functions, limits, codes",
		Args: between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if err := args.OneOf("--format", format, "md", "json"); err != nil {
				return err
			}
			if format == "json" {
				return ui.WriteJSON(a.out, reference.Language())
			}
			a.out.Printf("%s\n", strings.TrimSuffix(reference.Language().Markdown(), "\n"))
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "md", "md or json")
	return c
}
