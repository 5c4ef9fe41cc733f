package command

import (
	"context"
	"strings"

	"github.com/flowrun/flowrun/runner/executor"
)

// wire shows what goes between a program and us to whoever hears the wire. It returns what to do at the end of the program.
func wire(ctx context.Context, p *program, out, errs *capture) (end func()) {
	if !executor.Wired(ctx) {
		return func() {}
	}
	executor.Wire(ctx, true, "command", strings.Join(p.argv, " "))
	sent := executor.Mask(ctx).Writer(executor.WireTap(ctx, true, "stdin").Write)
	if p.talk != nil {
		p.talk.sent = sent.Write
	} else {
		sent.Write(p.stdin)
		sent.End()
	}
	stdout, stderr := executor.WireTap(ctx, false, "stdout"), executor.WireTap(ctx, false, "stderr")
	out.also, errs.also = both(stdout.Write, out.also), both(stderr.Write, errs.also)
	return func() {
		stdout.End()
		stderr.End()
	}
}

func both(first, second func([]byte)) func([]byte) {
	if second == nil {
		return first
	}
	return func(p []byte) {
		first(p)
		second(p)
	}
}
