// Command flowrun checks and runs workflow files. Everything that it does is in internal/app.
package main

import (
	"os"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], app.Process()))
}
