package executor

import (
	"bytes"
	"context"
	"time"

	"github.com/flowrun/flowrun/runner/event"
)

// Around is what an executor that speaks a protocol of somebody else knows of the process that it is part of.
type Around struct {
	// Release is what flowrun names itself to the other side.
	Release string
	// Live, if set, hears what the other side reports while it works: kind is progress or log. It must not block.
	Live func(a event.Attempt, kind, text string)
	// Session, if set, keeps in which session of its agent an attempt works, so that the attempt can go on there after a crash. It returns when
	// that is durable.
	Session func(ctx context.Context, a event.Attempt, session string) error
	// Room bounds how many attempts are under way at once; nil is: no bound.
	Room *Room
	// Wait, if set, hears why an attempt waits for its start for so long.
	Wait func(why error)
}

// Hold carries out an attempt once there is room for it.
func (r *Around) Hold(ctx context.Context, a event.Attempt, carryOut func() event.AttemptFinished) event.AttemptFinished {
	if !r.Room.Enter(ctx, r.Wait) {
		ans := Answer(a)
		ans.StartedAt = event.At(time.Now())
		Fail(&ans, WasCancelled())
		return ans
	}
	defer r.Room.Leave()
	return carryOut()
}

// Note keeps the session of an attempt, and reports whether that is durable. Without it the attempt can be carried out all the same.
func (r *Around) Note(ctx context.Context, a event.Attempt, session string) bool {
	if session == a.Agent.Session {
		return session != ""
	}
	if r.Session == nil || session == "" || len(session) > MaxSession {
		return false
	}
	err := r.Session(ctx, a, session)
	if err != nil && ctx.Err() == nil && r.Live != nil {
		r.Live(a, "log", "after a crash the attempt cannot continue its session: "+err.Error())
	}
	return err == nil
}

// Again is what an agent that continues a session is told before its task: the words of brokeOff, unless the agent keeps its session, where nothing need
// have broken off.
func Again(g *event.AgentRequest, brokeOff string) string {
	switch {
	case g.KeepSession && g.Feedback != "":
		return "You have worked on the task below in this session, and the work was refused. Continue from there.\n\n"
	case g.KeepSession:
		return "You have worked on the task below in this session. Continue from there.\n\n"
	}
	return brokeOff + " Continue where you stopped, and do not repeat what is done.\n\n"
}

// MaxSession is how long the name of a session is at most, in bytes. A longer one is not kept.
const MaxSession = 1 << 10

// Splitter splits what a program says into lines. A line of more than Max bytes takes no more memory than that.
type Splitter struct {
	Max  int
	line []byte
	skip bool // the rest of the line is too long
}

// Take calls each for each line that ends in p: without the space around it, and valid until each returns; nil if the line was too long.
func (s *Splitter) Take(p []byte, each func(line []byte)) {
	for len(p) > 0 {
		nl := bytes.IndexByte(p, '\n')
		part := p
		if nl >= 0 {
			part = p[:nl]
		}
		if s.skip = s.skip || len(s.line)+len(part) > s.Max; s.skip {
			s.line = s.line[:0]
		} else {
			s.line = append(s.line, part...)
		}
		if nl < 0 {
			return
		}
		if s.skip {
			each(nil)
		} else if line := bytes.TrimSpace(s.line); len(line) > 0 {
			each(line)
		}
		s.line, s.skip = s.line[:0], false
		p = p[nl+1:]
	}
}
