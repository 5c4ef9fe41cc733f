package app

import (
	"context"
	"errors"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/standalone"
)

// pinRun takes the place of a run's id when a user asks for descriptions of tools.
const pinRun = "by-hand"

// describeTools asks a server of an agent for its tools. failure says why it does not answer.
func (a *app) describeTools(ctx context.Context, p *program, path, agent, server string, values *args.Given) (described []value.Value, failure string, err error) {
	first, held, err := a.newFirstEvent(p, &ir.Workflow{Name: runner.PinStep}, &args.Apply{Given: *values})
	if err != nil {
		return nil, "", err
	}
	dir, err := a.storeDir(path)
	if err != nil {
		return nil, "", err
	}
	service, closeService := standalone.Carry(dir, a.carryOptions())
	defer closeService()
	first.Run = pinRun
	described, wrong := service.DescribeTools(ctx, p.ir, agent, server, &first, held)
	if wrong != nil {
		return nil, wrong.Message, nil
	}
	return described, "", nil
}

// examineTools asks a server of an agent for its tools, for doctor.
func (a *app) examineTools(path, agent, server string) ([]value.Value, error) {
	p, err := a.loadProgram(path)
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(context.Background(), toolsWait)
	defer done()
	described, failure, err := a.describeTools(ctx, p, path, agent, server, &args.Given{})
	if failure != "" {
		err = errors.New(ui.Clean(failure))
	}
	return described, err
}

// toolsWait is how long doctor waits for a server of tools.
const toolsWait = 20 * time.Second
