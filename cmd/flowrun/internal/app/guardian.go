package app

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/runner/executor/command"
)

const guardianName = "guardian"

// guardianCommand returns the command that starts this program as the guardian of its own children;
// nil if the program does not know its own file.
func guardianCommand() []string {
	self := "/proc/self/exe" // holds when the file was replaced, too
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return nil
		}
	}
	return []string{self, guardianName}
}

// newGuardianCommand is a command that flowrun runs itself: if this process is killed, the guardian
// ends the processes that its steps started.
func newGuardianCommand() *cobra.Command {
	return &cobra.Command{Use: guardianName + " TOKEN", Hidden: true, Args: between(1, 1, "TOKEN"),
		Run: func(_ *cobra.Command, words []string) { command.Guardian(words[0]) }}
}
