// Command flowbench prints what flowrun costs, each figure beside the floor that it is measured against, in one run:
//
//	go run ./cmd/flowbench                 # all rows: some minutes
//	go run ./cmd/flowbench -rows null,wide # those whose names begin so
//	go run ./cmd/flowbench -list
//
// It builds flowrun from the module that it stands in, writes the workflow files, and has the floors in itself; Go is all it
// needs. internal/bench has the rows, internal/floor what they are compared with.
package main

import (
	"os"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/bench"
	"github.com/flowrun/flowrun/cmd/flowbench/internal/floor"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == bench.FloorCommand {
		os.Exit(floor.Main(os.Args[2:], os.Stdout, os.Stderr))
	}
	os.Exit(bench.Main(os.Args[1:], os.Stdout, os.Stderr))
}
