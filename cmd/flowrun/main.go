// Command flowrun checks and runs workflow files.
//
// This is the door and nothing else. From here to what matters it is three jumps: app.Main finds the command, dsl.Load reads
// and checks a program, machine.Step takes the events of a run. What may be imported is held by the table in layers_test.go.
package main

import (
	"os"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/app"
	_ "github.com/flowrun/flowrun/cmd/flowrun/internal/boot" // before the others
)

func main() {
	os.Exit(app.Main(os.Args[1:], app.Process()))
}
