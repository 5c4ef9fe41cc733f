package app

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/runner/standalone"
)

// newGuardianCommand is a command that flowrun runs itself: if this process is killed, the guardian
// ends the processes that its steps started.
func newGuardianCommand() *cobra.Command {
	return &cobra.Command{Use: guardianName + " TOKEN", Hidden: true, Args: between(1, 1, "TOKEN"),
		Run: func(_ *cobra.Command, words []string) { standalone.Guardian(words[0]) }}
}
