package share

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/admission"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/engine/temporal/wire"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Bounds of the replies that are remembered.
const (
	maxRecent      = 256
	maxRecentBytes = 256 << 10
)

// store is what the runs of a store share.
type store struct {
	now     event.Time
	rules   int  // of the execution
	large   bool // the rows lie beside the server
	crowded bool // the state is too large for the next execution: nobody can wait any more
	anew    event.Time
	birth   string // the id of the first execution: a store that begins anew numbers its events anew
	rows    rows
	line    *admission.State // for agents and quotas
	turns   *admission.State // in groups
	order   int64
	entered map[string]*wire.Enter
	goesOn  event.Time // when the first request of a line can start that waits for a moment; 0: none does
	unsent  []wire.Unsent
	posted  int64           // the number of the last message
	recent  []wire.Answered // the oldest first
}

// open reads what the execution before has left.
func open(from *wire.Shared) (*store, error) {
	s := &store{rules: from.Rules, large: from.Large, anew: from.Anew, order: from.Order, entered: from.Entered, goesOn: from.GoesOn, unsent: from.Unsent, posted: from.Posted, recent: from.Recent}
	if s.entered == nil {
		s.entered = map[string]*wire.Enter{}
	}
	s.rows.large = from.Large
	err := s.rows.unpack(from.Rows)
	if from.Anew != 0 && len(from.Rows) == 0 && err == nil {
		err = shared.BeginAnew(&s.rows, from.Anew)
	}
	s.line, s.turns = admission.Load(from.Line, &s.rows), admission.Load(from.Turns, nil)
	return s, err
}

// left is what the next execution begins with.
func (s *store) left(name string) (*wire.Shared, error) {
	packed, err := s.rows.pack()
	return &wire.Shared{Store: name, Rules: s.rules, Large: s.large, Anew: s.anew, Rows: packed, Line: s.line.Requests(), Turns: s.turns.Requests(), Order: s.order, Entered: s.entered, GoesOn: s.goesOn,
		Unsent: s.unsent, Posted: s.posted, Recent: s.recent}, err
}

// answer carries requests out.
func (s *store) answer(a *wire.Asking) *wire.Told {
	told, size := &wire.Told{}, 0
	for i := range a.Requests {
		if size > wire.MaxReplies {
			told.Replies = append(told.Replies, wire.Reply{Again: true})
			continue
		}
		reply, packed := s.answerOnce(&a.Requests[i])
		size += len(packed)
		told.Replies = append(told.Replies, reply)
	}
	s.rows.weigh()
	return told
}

// answerOnce carries a request out, unless that was done a short while ago.
func (s *store) answerOnce(r *wire.Request) (reply wire.Reply, packed []byte) {
	for i := range s.recent {
		if known := &s.recent[i]; r.ID != "" && known.ID == r.ID && wire.Decode(known.Reply, &reply) == nil {
			return reply, known.Reply
		}
	}
	reply, err := s.carryOut(r)
	if err == nil {
		packed, err = wire.Encode(&reply)
	}
	if err != nil {
		reply = wire.Reply{Refusal: err.Error()}
		packed, _ = wire.Encode(&reply) // it is a text
	}
	if r.ID != "" && r.Attempt == nil { // the answer of an attempt of a step is kept in a row
		s.remember(wire.Answered{ID: r.ID, Reply: packed})
	}
	return reply, packed
}

func (s *store) remember(a wire.Answered) {
	s.recent = append(s.recent, a)
	size := 0
	for i := len(s.recent) - 1; i >= 0; i-- {
		if size += len(s.recent[i].Reply); size > maxRecentBytes && i < len(s.recent)-1 || len(s.recent)-i > maxRecent {
			s.recent = append([]wire.Answered(nil), s.recent[i+1:]...)
			return
		}
	}
}

// carryOut carries a request out. An error refuses the request, which has changed nothing then.
func (s *store) carryOut(r *wire.Request) (reply wire.Reply, err error) {
	switch {
	case r.Attempt != nil:
		return s.answerAttempt(r.Attempt)
	case r.Ask != nil:
		if (s.rows.full || s.crowded) && shared.Changes(r.Ask) && !frees(r.Ask) {
			return reply, s.rows.errFull()
		}
		var a shared.Answer
		err = s.uncrowd(func() (err error) {
			a, err = shared.Apply(&s.rows, r.Ask, shared.Waiter{}, s.now)
			return err
		})
		reply.Value = s.named(r.Ask, a.Output)
		s.postAll(a.Posts)
	case r.Admit != nil:
		return s.admit(r.Admit, r.Stands)
	case r.Refuse != nil:
		reply.Verdict = admission.Removed
		if known := s.line.Find(r.Refuse.Key); known != nil && known.Ticket == r.Refuse.Ticket {
			return s.applyLine(admission.Operation{Refuse: r.Refuse.Key})
		}
	case r.Remove != nil:
		if known := s.line.Find(r.Remove.Key); known != nil && (known.Ticket == r.Remove.Ticket || r.Remove.Ticket == 0) {
			return s.applyLine(admission.Operation{Remove: []string{r.Remove.Key}})
		}
	case r.End != nil:
		end := r.End.End
		if known := s.line.Find(end.Key); known != nil && known.Ticket != r.End.Ticket {
			end.Key = "" // another attempt has the request, and this one was given up
		}
		return s.applyLine(admission.Operation{End: []admission.End{end}})
	case r.Enter != nil:
		return s.enter(r.Enter)
	case r.News != nil:
		return reply, s.note(r.News)
	case r.Closed != nil:
		return reply, s.close(r.Closed)
	case r.Change != nil:
		done, err := shared.ChangeLimit(&s.rows, *r.Change, s.now)
		if err != nil {
			return reply, err
		}
		reply.Changed = done.Changed
		s.postAll(done.Posts)
		if len(done.Resources) > 0 {
			_, err = s.applyLine(admission.Operation{Remove: []string{}})
		}
		return reply, err
	default:
		return s.read(r)
	}
	return reply, err
}

// read carries out a request that changes nothing.
func (s *store) read(r *wire.Request) (reply wire.Reply, err error) {
	switch {
	case r.Ask != nil && !shared.Changes(r.Ask):
		a, err := shared.Apply(&s.rows, r.Ask, shared.Waiter{}, s.now)
		return wire.Reply{Value: s.named(r.Ask, a.Output)}, err
	case r.Subscribed != "":
		reply.Yes, err = shared.HasSubscribers(&s.rows, r.Subscribed)
	case r.Limits:
		reply.Limits, err = s.line.List(s.now)
	case r.Halted != nil:
		for _, agent := range r.Halted {
			halted, err := shared.IsHalted(&s.rows, agent, s.now)
			if err != nil {
				return reply, err
			}
			if halted {
				reply.Halted = append(reply.Halted, agent)
			}
		}
	case r.Turns:
		reply.Turns = s.inLine()
	case r.About:
		reply.About = &wire.About{Rules: s.rules, Anew: s.anew, Bytes: s.rows.size}
	default:
		err = &shared.Refusal{Message: "the request asks for nothing that the worker's release knows"}
	}
	return reply, err
}

// named adds the store to what is due, so that the ids of the runs are not those of the runs of an earlier store of the namespace.
func (s *store) named(r *event.StoreRequest, answer any) any {
	if r.Due == nil && (r.Routine == nil || r.Routine.Operation != event.RoutineDue) {
		return answer
	}
	o, _ := answer.(map[string]any)
	list, _ := o["due"].([]any)
	for _, row := range list {
		if d, is := row.(map[string]any); is {
			d["store"] = s.birth
		}
	}
	return answer
}

var errCrowded = &shared.Refusal{Message: "the store is full: the shared state, with the attempts and runs that wait, is larger than the server accepts"}

func (r *rows) errFull() *shared.Refusal {
	return &shared.Refusal{Message: fmt.Sprintf("the store is full: the shared state has more than %d bytes, compressed", r.most())}
}

// frees reports whether a request makes room, or is needed for a run to go on.
func frees(r *event.StoreRequest) bool {
	return r.KV != nil && r.KV.Operation == ir.KVDelete || r.Decide != nil || r.Dead != nil || r.Started != nil
}

// answerAttempt answers the attempt of a step.
func (s *store) answerAttempt(a *event.Attempt) (reply wire.Reply, err error) {
	if (s.rows.full || s.crowded) && shared.Changes(a.Store) && !frees(a.Store) {
		f := engine.NeverStarted(*a)
		f.Error = &event.Error{Kind: event.Blocking, Reason: event.ReasonStore, Message: s.rows.errFull().Message, ExitCode: -1}
		f.StartedAt = s.now
		return wire.Reply{Finished: &f}, nil
	}
	var f event.AttemptFinished
	var posts []shared.Post
	err = s.uncrowd(func() (err error) {
		f, posts, err = shared.AnswerAttempt(&s.rows, a, s.now)
		return err
	})
	s.postAll(posts)
	return wire.Reply{Finished: &f}, err
}

func (s *store) uncrowd(do func() error) error {
	return shared.Uncrowd(do, func(sweep func(shared.Rows) error) error { return sweep(&s.rows) })
}

// admit asks for the admission of an attempt.
func (s *store) admit(r *admission.Request, stands bool) (reply wire.Reply, err error) {
	if known := s.line.Find(r.Key); known != nil && known.Ticket != r.Ticket && !stands { // its removal is on its way
		if _, err := s.applyLine(admission.Operation{Remove: []string{r.Key}}); err != nil {
			return reply, err
		}
	}
	if s.crowded && s.line.Find(r.Key) == nil {
		return reply, errCrowded
	}
	for i := range r.Needs {
		if _, err := shared.Declare(&s.rows, &r.Needs[i]); err != nil {
			return reply, err
		}
	}
	s.order++
	r.Order, r.Driver = s.order, 1
	return s.applyLine(admission.Operation{Ask: r})
}

// applyLine carries out an operation, and tells the grants to their runs.
func (s *store) applyLine(op admission.Operation) (wire.Reply, error) {
	a, err := s.line.Apply(op, s.now)
	if err != nil {
		return wire.Reply{}, err
	}
	s.postAll(a.Posts)
	for _, r := range a.Granted {
		switch {
		case op.Ask != nil && r.Key == op.Ask.Key, op.Refuse == r.Key: // the reply says so
		case r.Refused:
			s.post(shared.Post{Run: r.Run, External: event.External{Kind: event.ExternalGranted, Node: r.Node, Data: float64(r.Ticket)}})
		default:
			s.grant(r.Run, wire.Grant{Ticket: r.Ticket, At: r.At})
		}
	}
	s.goesOn = 0
	for _, w := range a.Waits {
		if s.goesOn == 0 || w.At < s.goesOn {
			s.goesOn = w.At
		}
	}
	return wire.Reply{Verdict: a.Verdict, At: a.At, Obstacle: a.Obstacle}, nil
}

// note takes what a batch of a run says.
func (s *store) note(n *wire.News) (err error) {
	for _, key := range n.Leaves {
		if err == nil {
			err = shared.Withdraw(&s.rows, n.Run, key)
		}
	}
	if err == nil {
		err = shared.ApplyAsks(&s.rows, n.Run, n.Asks, s.now)
	}
	if err == nil {
		err = shared.NoteRest(&s.rows, n.Run, n.Rest)
	}
	return err
}

// close forgets a run that has ended.
func (s *store) close(e *shared.RunEnd) error {
	if err := shared.EndRun(&s.rows, e, s.now); err != nil {
		return err
	}
	return s.release(e.Run, false)
}

// release gives back what a run holds. lost says that its attempts did not end.
func (s *store) release(run string, lost bool) error {
	var ends []admission.End
	for _, r := range s.line.Requests() {
		if r.Run == run {
			ends = append(ends, admission.End{Key: r.Key, Lost: lost})
		}
	}
	if ends != nil {
		if _, err := s.applyLine(admission.Operation{End: ends}); err != nil {
			return err
		}
	}
	return s.leave(run)
}

// abandon forgets a run that was ended on the server, and did not say so.
func (s *store) abandon(run string) error {
	if err := shared.Forget(&s.rows, run, s.now); err != nil {
		return err
	}
	return s.release(run, true)
}

// holders lists the runs that have something, or wait for it, if one of them waits.
func (s *store) holders() (runs []string) {
	waits, seen := false, map[string]bool{}
	for _, state := range []*admission.State{s.line, s.turns} {
		for _, r := range state.Requests() {
			waits = waits || !r.Granted
			if !seen[r.Run] {
				seen[r.Run] = true
				runs = append(runs, r.Run)
			}
		}
	}
	if !waits {
		return nil
	}
	return runs
}

func (s *store) postAll(posts []shared.Post) {
	for _, p := range posts {
		s.post(p)
	}
}

// post puts a message to a run among those that are sent.
func (s *store) post(p shared.Post) {
	packed, err := engine.PackExternal(p.External, []event.ExternalKind{p.Kind})
	if err != nil {
		return // it is too large for any run
	}
	_ = shared.Stir(&s.rows, p.Run) // rows in memory have no errors
	s.queue(p.Run, wire.Posted, packed)
}

func (s *store) grant(run string, g wire.Grant) {
	if packed, err := wire.Encode(g); err == nil {
		s.queue(run, wire.Granted, packed)
	}
}

func (s *store) queue(run, name string, body []byte) {
	s.posted++
	s.unsent = append(s.unsent, wire.Unsent{Run: run, Name: name, Body: body, Number: s.posted})
}
