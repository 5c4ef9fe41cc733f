package app

import "github.com/spf13/cobra"

func (a *app) newAgentsShowCommand() *cobra.Command {
	path, expanded := "", false
	c := &cobra.Command{
		Use: "show NAME [FILE|DIR]", Short: "Print the block of an agent", Args: between(1, 2, "NAME"),
		Long: `show prints the block of the agent NAME of a program, the one in the current folder unless you name another. With --expanded,
show adds the attributes that the agent's preset gives. A run keeps the expanded block, so a preset that changes in a later release
does not change a run that has started.

  flowrun agents show coder --expanded`,
		RunE: func(_ *cobra.Command, words []string) error {
			if path = "."; len(words) > 1 {
				path = words[1]
			}
			return a.runAgentsShow(words[0], path, expanded)
		},
	}
	c.Flags().BoolVar(&expanded, "expanded", false, "with the attributes of the agent's preset")
	return c
}

func (a *app) runAgentsShow(name, path string, expanded bool) error {
	p, err := a.loadProgram(path)
	if err != nil {
		return err
	}
	text := p.agent(name, expanded)
	if text == nil {
		return a.noAgent(p, name)
	}
	_, err = a.out.Write(text)
	return err
}
