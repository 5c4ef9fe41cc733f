package app

import (
	"context"
	"fmt"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/runner/learning"
	"github.com/flowrun/flowrun/runner/standalone"
)

// byHand takes the place of a run's id when a user calls an editor by hand.
const byHand = "by-hand"

// reword lets the editor of --file's program word patterns. The program's variables come from the
// environment and from their defaults.
func (a *app) reword(ctx context.Context, m *memory.Memory) ([]string, error) {
	if a.memoryFile == "" {
		return nil, &args.Error{Message: "--reword needs --file", Hint: "It is the program whose memory names an editor."}
	}
	p, err := a.loadProgram(a.memoryFile)
	if err != nil {
		return nil, err
	}
	if p.ir.Memory == nil || p.ir.Memory.Editor == "" {
		return nil, &args.Error{Message: fmt.Sprintf("the memory of %s names no editor", a.memoryFile), Hint: "Write  memory { editor = agent.NAME }."}
	}
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: learning.EditorStep}, &args.Apply{})
	if err != nil {
		return nil, err
	}
	dir, err := a.storeDir(a.memoryFile)
	if err != nil {
		return nil, err
	}
	service, closeService := standalone.Carry(dir, a.carryOptions())
	defer closeService()
	first.Run = byHand
	return service.Reword(ctx, m, p.ir, &first, held, memory.Wording{Again: true, By: entry.Source{Source: "cli", Trust: entry.ByPerson}})
}
