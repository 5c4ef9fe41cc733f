package app

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/runner/executor/command"
)

const guardianName = "guardian"

// guardianCommand is what makes this program a guardian of its own children; nil where it does not know its own file.
func guardianCommand() []string {
	self := "/proc/self/exe" // holds when the file was replaced, too
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return nil
		}
	}
	return []string{self, guardianName}
}

// newGuardianCommand is a command that flowrun runs itself: it ends what this process's steps started, should the process be killed.
func newGuardianCommand() *cobra.Command {
	return &cobra.Command{Use: guardianName + " TOKEN", Hidden: true, Args: between(1, 1, "TOKEN"),
		Run: func(_ *cobra.Command, words []string) { command.Guardian(words[0]) }}
}
