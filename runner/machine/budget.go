package machine

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/plan"
)

// A budget bounds what attempts use: those of a node with all its instances and iterations, or of
// the run. Each start of an attempt, a called run or another iteration asks all budgets around it
// first. Attempts count when they start; tokens and cost count when the answer says them, so what
// is in flight can exceed its bound. A called run gets the rest of all budgets around the call as
// budgets of its own run, one of those that stop and one of those that ask, and its use counts here
// when it has ended. Of attempts it gets no more than its workflow makes at most, and these are kept
// for it until it has ended. A call waits while too few are left because others are kept; nothing
// bounds a workflow whose most is not known, so it waits until none are kept, and takes all. Tokens
// and cost are kept in the same way where a budget of the called workflow, or one nearer to the call,
// bounds them. Other called runs that run at the same time may each use what is left of them.
//
// The answer can take the start of an attempt back: the host refused the attempt, or the other side
// named a moment to come back. While such an attempt is open, the next start waits for its answer
// where the bound is reached. A sync step counts once, however often it asks. Compensations and
// finally count, and no budget stops them.

// budget is the state of one budget.
type budget struct {
	of     ref    // the node; node None: the run
	whose  string // in words
	most   event.Bounds
	used   event.Bounds
	warnAt float64 // percent; 0: never
	stops  bool
	step   event.Bounds // how much a decision adds to the bounds that are reached; zero unless it asks
	asked  *asking      // set while people are asked
	ended  string       // who decided that it stops
	notify []string
	warned bool
	beyond bool // the second warning was shown, where the budget stops nothing
	// open counts the attempts among used whose answers can take their starts back, and waiting lists
	// what wants to start while these attempts fill the budget.
	open    int64
	loans   int // called runs for which something is kept
	lent    event.Bounds
	waiting []budgetWait
}

// loan is what a budget keeps for a called run.
type loan struct {
	by   *budget
	kept event.Bounds
}

// budgetWait is a start that waits for room in a budget. It is void if the node's number is another one.
type budgetWait struct {
	slotRequest
	number uint64
}

// runBudgets is what a run knows of its budgets.
type runBudgets struct {
	budgeted   bool                    // there may be budgets
	budgets    []*budget               // of the run
	unreported map[string]bool         // agents of which a warning says that they do not say what they use
	waits      uint64                  // starts that have waited for room
	most       map[string]event.Bounds // of a run of a workflow: see mostOf
}

// mayBudget reports whether the run can have budgets.
func mayBudget(g *plan.Graph, run *event.RunStarted) bool {
	for i := range g.Nodes {
		if g.Nodes[i].Budget != nil {
			return true
		}
	}
	return g.Workflow.Budget != nil || run.Budget != nil || run.Asks != nil
}

// budgetsAround yields the budgets around a node that have been set, from the inside out.
func (m *Machine) budgetsAround(r ref) iter.Seq[*budget] {
	return func(yield func(*budget) bool) {
		for ; r.node != plan.None; r = m.parent(r) {
			if d := m.state(r).liveState; d != nil && d.cold != nil && d.cold.budget != nil && !yield(d.cold.budget) {
				return
			}
		}
		for _, b := range m.budgets {
			if !yield(b) {
				return
			}
		}
	}
}

// setBudget sets a node's budget when the node is released, for all its instances and iterations.
// It fails the node and returns false if the budget cannot be evaluated.
func (m *Machine) setBudget(r ref) bool {
	n := m.node(r)
	if n.Budget == nil || n.Region != r.frame.region || m.reusedEnd(r) != nil {
		return true
	}
	b := &budget{of: r, whose: fmt.Sprintf("the budget of %q", m.path(r))}
	if err := m.evalBudget(b, n.Budget, m.newScope(r)); err != nil {
		m.failNode(r, compose.EvaluationError("budget", err))
		return false
	}
	m.coldState(r).budget = b
	return true
}

// setRunBudgets sets the budget of the workflow, and the rest that the calling run has left.
func (m *Machine) setRunBudgets(sc *compose.Scope) error {
	if m.budgeted = mayBudget(m.graph, m.run); !m.budgeted {
		return nil
	}
	here := ref{m.root, plan.None}
	if rest := m.run.Budget; rest != nil {
		m.budgets = append(m.budgets, &budget{of: here, whose: "what the budget of the calling run had left", most: *rest, stops: true})
	}
	if rest := m.run.Asks; rest != nil {
		m.budgets = append(m.budgets, &budget{of: here, whose: "what the budget of the calling run had left", most: rest.Left, step: rest.Step, stops: true})
	}
	if m.graph.Workflow.Budget == nil {
		return nil
	}
	b := &budget{of: here, whose: "the budget of the run"}
	m.budgets = append(m.budgets, b)
	return m.evalBudget(b, m.graph.Workflow.Budget, sc)
}

func (m *Machine) evalBudget(b *budget, from *ir.Budget, sc *compose.Scope) (err error) {
	b.stops, b.notify = from.OnExceed != ir.OnExceedWarn, from.Notify
	b.most, b.warnAt, err = m.composer.Budget(from, sc)
	if from.OnExceed == ir.OnExceedAsk {
		b.step = b.most
	}
	return err
}

// asks reports whether people decide if more may start in a spent budget.
func (b *budget) asks() bool { return b.step != event.Bounds{} }

// stoppingAround yields the budgets around a node that can stop it. The budgets of the run do not keep finally from running.
func (m *Machine) stoppingAround(r ref) iter.Seq[*budget] {
	return func(yield func(*budget) bool) {
		for b := range m.budgetsAround(r) {
			if b.stops && !(b.of.node == plan.None && m.phase != working) && !yield(b) {
				return
			}
		}
	}
}

// mostOf returns what a run of a workflow uses at most. Attempts are math.MaxInt64 if that is not known; tokens and cost are 0 if no
// budget of the workflow bounds them.
func (m *Machine) mostOf(workflow string) event.Bounds {
	if most, known := m.most[workflow]; known {
		return most
	}
	most := event.Bounds{Attempts: math.MaxInt64}
	if g, err := plan.Build(m.graph.Program, workflow); err == nil {
		if w := outline.WorstOf(g, nil, nil, 0); w.Attempts != nil {
			most.Attempts = max(1, int64(*w.Attempts))
		}
		if b := g.Workflow.Budget; b != nil && (b.OnExceed == "" || b.OnExceed == ir.OnExceedStop) {
			most.Tokens, most.CostUSD = constant(b.Tokens), constant(b.CostUSD)
		}
	}
	if m.most == nil {
		m.most = map[string]event.Bounds{}
	}
	m.most[workflow] = most
	return most
}

// constant returns a number that the file says; 0 if a run computes it.
func constant(e *ir.Expr) float64 {
	if e == nil || e.Kind != ir.Const {
		return 0
	}
	f, _ := e.Const.(float64)
	return f
}

// oneAttempt is what an attempt uses at most, as far as that is known.
var oneAttempt = event.Bounds{Attempts: 1}

// calledBy returns the workflow that a start calls; "" if it is an attempt.
func (m *Machine) calledBy(w slotRequest) string {
	switch {
	case w.gate == healing:
		e := m.escalationOf(w.ref)
		return e.of.Levels[e.at].Heal.Workflow
	case m.isCall(w):
		return m.node(w.ref).Action.(*ir.Call).Workflow
	}
	return ""
}

// spentAround returns the error of what would start in a budget that is spent, or else the first
// budget around the node that can only be said to be spent when attempts in it have their answers, when people have decided,
// or when called runs have ended. What would start is one attempt, or a called run, and uses so much at most.
func (m *Machine) spentAround(r ref, uses event.Bounds, called bool) (spent *event.Error, full *budget) {
	if !m.budgeted {
		return nil, nil
	}
	for b := range m.stoppingAround(r) {
		if reached := b.reached(b.used.Attempts - b.open); reached != "" && !b.asks() {
			return &event.Error{Kind: event.Fatal, Reason: event.ReasonBudget, ExitCode: -1, Message: fmt.Sprintf("%s is spent: %s%s", b.whose, reached, b.ended)}, nil
		}
		if full == nil && b.reached(b.used.Attempts) != "" {
			full = b
		}
		if b.lent.Attempts == 0 && b.most.Attempts > 0 {
			uses.Attempts = min(uses.Attempts, b.most.Attempts-b.used.Attempts)
		}
	}
	for b := range m.stoppingAround(r) {
		left := b.left()
		if full == nil && (b.lent.Attempts > 0 && uses.Attempts > left.Attempts || b.lent.Tokens > 0 && !fits(uses.Tokens, left.Tokens, b.most.Tokens) ||
			b.lent.CostUSD > 0 && !fits(uses.CostUSD, left.CostUSD, b.most.CostUSD)) {
			full = b
		}
		if called && !b.asks() {
			uses = uses.Smallest(event.Bounds{Tokens: left.Tokens, CostUSD: left.CostUSD})
		}
	}
	return nil, full
}

// left returns what is neither used nor kept for called runs.
func (b *budget) left() event.Bounds {
	return b.most.Less(b.used.Plus(b.lent))
}

// fits reports whether what is left is enough for a use, which is 0 if it is not known. It allows for what sums lose in rounding.
func fits(use, left, most float64) bool {
	if use == 0 {
		return left > float64(most*1e-9)
	}
	return left >= float64(use*(1-1e-9))
}

// refuseSpent fails a node whose next attempt, or the next attempt of one of its gates, would start
// in a budget that is spent, or lets the node wait until that is known. The attempt has its slots.
func (m *Machine) refuseSpent(w slotRequest) bool {
	if !m.budgeted {
		return false
	}
	uses, workflow := oneAttempt, m.calledBy(w)
	if workflow != "" {
		uses = m.mostOf(workflow)
	}
	err, full := m.spentAround(w.ref, uses, workflow != "")
	if err == nil && full == nil {
		return false
	}
	m.returnSlots(w.ref, w.gate)
	if refused := m.liveState(w.ref).beginAdmitted(); refused != 0 {
		m.withdrawRefused(w.ref, refused, leftLine)
	}
	m.startParents(w.ref)
	if err != nil {
		m.failSpent(w.ref, err)
	} else {
		m.waitForRoom(full, w)
	}
	return true
}

// waitForRoom lets a node wait until a budget has room, or is spent.
func (m *Machine) waitForRoom(b *budget, w slotRequest) {
	x := m.coldState(w.ref)
	shown := x.waitsFor
	if x.room == 0 {
		shown = event.WaitsFor{}
	}
	m.waits++
	x.room = m.waits
	b.waiting = append(b.waiting, budgetWait{w, x.room})
	x.waitsFor = event.WaitsFor{Kind: event.WaitBudget, Name: m.path(b.of)}
	if x.waitsFor.Name == "" {
		x.waitsFor.Name = m.graph.Workflow.Name
	}
	if reached := b.reached(b.used.Attempts - b.open); b.asks() && reached != "" {
		x.waitsFor = event.WaitsFor{Kind: event.WaitDecision, Name: string(event.AskBudget)}
		m.askForMore(b, reached)
	}
	if m.isCall(w) { // others may need what it would hold before there is room
		m.releaseHold(w.ref)
	}
	if shown == x.waitsFor {
		return
	}
	n, s, d := m.node(w.ref), m.state(w.ref), m.liveState(w.ref)
	from, waits := s.status, x.waitsFor
	s.status = event.Waiting
	m.showTransition(event.Transition{Node: d.path, From: from, To: event.Waiting, Attempt: d.attempts, Name: n.Name, Kind: string(n.Kind),
		Reason: string(waits.Kind), WaitsFor: &waits})
}

// askForMore asks people whether more may start in a spent budget.
func (m *Machine) askForMore(b *budget, reached string) {
	if b.asked != nil {
		return
	}
	b.asked = m.askPeople(b.of, &event.Ask{Kind: event.AskBudget, Words: []event.Word{event.WordContinue, event.WordStop},
		Prompt: fmt.Sprintf("%s is spent: %s", b.whose, reached)})
	b.asked.spent = b
	if m.behaviour[ir.MessagesNameTheAnswer] {
		m.sendMessage(b.of, b.notify, m.run.Run+" "+b.asked.Shown, event.Message{Kind: event.MessageBudget, Level: "warning", Text: b.asked.Prompt,
			Decide: m.answerLine(&b.asked.Ask), Data: b.spending()})
	}
}

// settleBudget lets more start in a budget, or nothing any more, as a person has decided.
func (m *Machine) settleBudget(_ ref, a *asking, word event.Word, by []string) {
	b := a.spent
	b.asked = nil
	m.stopAsking(a, word, by, "")
	if word == event.WordContinue {
		if (budgetPart{float64(b.used.Attempts), float64(b.most.Attempts), ""}).isReached() {
			b.most.Attempts += b.step.Attempts
		}
		if (budgetPart{b.used.Tokens, b.most.Tokens, ""}).isReached() {
			b.most.Tokens += b.step.Tokens
		}
		if (budgetPart{b.used.CostUSD, b.most.CostUSD, ""}).isReached() {
			b.most.CostUSD += b.step.CostUSD
		}
		b.warned = false
		m.askRulesSoon()
	} else {
		b.step, b.ended = event.Bounds{}, fmt.Sprintf("; %s stopped it", strings.Join(by, ", "))
	}
	m.wakeWaiting(b)
}

// wakeWaiting lets what waits for a budget ask again.
func (m *Machine) wakeWaiting(b *budget) {
	waiting := b.waiting
	b.waiting = nil
	for _, w := range waiting {
		if x := m.liveState(w.ref).cold; x.room == w.number {
			m.agenda.push(task{do: doRoom, ref: w.ref, cursor: w.gate})
		}
	}
}

// stopAskingForMore ends the question for more where nothing waits for the answer any more.
func (m *Machine) stopAskingForMore(r ref) {
	for b := range m.budgetsAround(r) {
		if b.asked == nil || slices.ContainsFunc(b.waiting, func(w budgetWait) bool { return m.liveState(w.ref).cold.room == w.number }) {
			continue
		}
		m.stopAsking(b.asked, "", nil, "was needed by nothing any more")
		b.asked = nil
	}
}

// enterRoom ends a node's wait for room.
func (m *Machine) enterRoom(w slotRequest) {
	d := m.liveState(w.ref)
	if d.cold == nil || d.cold.room == 0 {
		return
	}
	d.cold.room = 0
	m.stopAskingForMore(w.ref)
	if w.gate != work && w.gate != healing {
		m.moveNode(w.ref, event.Running, "")
	}
}

// askRoomAgain queues a start that has waited for room.
func (m *Machine) askRoomAgain(r ref, gate int) {
	if s := m.state(r); s.cold.room != 0 && !s.queued {
		m.queueForSlots(r, gate)
	}
}

// leaveRoom ends the wait of a node that ends.
func (m *Machine) leaveRoom(r ref) {
	if x := m.liveState(r).cold; x != nil && x.room != 0 {
		x.room = 0
		m.stopAskingForMore(r)
	}
}

// mayTakeBack reports whether the answer of an attempt can take its start back.
func mayTakeBack(a *attempt) bool {
	return a.gate == work && (a.request.Agent != nil || a.request.Admission != nil || a.request.HTTP != nil)
}

// settleStart counts the start of an attempt that has its answer, or takes it back.
func (m *Machine) settleStart(a *attempt, counts bool) {
	if !m.budgeted || counts && !a.open {
		return
	}
	for b := range m.budgetsAround(a.ref) {
		if a.open {
			b.open--
		}
		if !counts {
			b.used.Attempts--
		}
		m.wakeForRoom(b)
	}
	a.open = false
}

// wakeForRoom lets what waits for a budget ask again, unless people are to decide.
func (m *Machine) wakeForRoom(b *budget) {
	if b.asked == nil || b.reached(b.used.Attempts-b.open) == "" {
		m.wakeWaiting(b)
	}
}

// failSpent ends a node whose next start a budget forbids.
func (m *Machine) failSpent(r ref, err *event.Error) {
	if last := m.liveState(r).err; last != nil {
		err.Message += "; its last attempt failed: " + last.Message
	}
	m.failWork(r, err)
}

// lend gives a run that is called the smallest rests of the budgets around the call, and keeps for it what it can use of them at most.
func (m *Machine) lend(a *attempt) {
	if !m.budgeted {
		return
	}
	most := m.mostOf(a.child.Workflow)
	bounded, stops, asks := event.Bounds{Tokens: most.Tokens, CostUSD: most.CostUSD}, event.Bounds{}, event.Asking{}
	for b := range m.stoppingAround(a.ref) {
		left, kept := b.left(), event.Bounds{Attempts: b.most.Attempts}
		if bounded.Tokens > 0 {
			kept.Tokens = b.most.Tokens
		}
		if bounded.CostUSD > 0 {
			kept.CostUSD = b.most.CostUSD
		}
		if kept != (event.Bounds{}) {
			a.loans = append(a.loans, loan{b, kept})
		}
		if b.asks() {
			asks.Smallest(left, b.step)
			continue
		}
		stops = stops.Smallest(left)
		bounded = bounded.Smallest(event.Bounds{Tokens: left.Tokens, CostUSD: left.CostUSD})
	}
	stops, asks.Left = stops.Within(most), asks.Left.Within(most)
	for i := range a.loans {
		l, uses := &a.loans[i], stops.Smallest(bounded)
		if l.by.asks() {
			uses = uses.Smallest(asks.Left)
		}
		l.kept = l.kept.Within(uses)
		l.by.loans++
		l.by.lent = l.by.lent.Plus(l.kept)
	}
	if stops != (event.Bounds{}) {
		a.child.Budget = &stops
	}
	if asks.Left != (event.Bounds{}) {
		a.child.Asks = &asks
	}
}

// settleChild counts what a called run has used, and gives back what was kept for it.
func (m *Machine) settleChild(a *attempt, f *event.ChildFinished) {
	if f.Usage != nil {
		m.countUsage(a.ref, *f.Usage)
		m.countSpent(a.ref, *f.Usage, f.Usage.Attempts)
	}
	for _, l := range a.loans {
		if l.by.loans--; l.by.loans == 0 {
			l.by.lent = event.Bounds{} // without what sums lose in rounding
		} else {
			l.by.lent = l.by.lent.Plus(event.Bounds{Attempts: -l.kept.Attempts, Tokens: -l.kept.Tokens, CostUSD: -l.kept.CostUSD})
		}
		m.wakeForRoom(l.by)
	}
	a.loans = nil
}

// countStart counts the start of an attempt.
func (m *Machine) countStart(a *attempt) {
	a.open = m.budgeted && mayTakeBack(a)
	if a.open {
		for b := range m.budgetsAround(a.ref) {
			b.open++
		}
	}
	m.countInBudgets(a.ref, event.Bounds{Attempts: 1})
}

// countSpent counts what an attempt that began has used, or what a called run has.
func (m *Machine) countSpent(r ref, u event.Usage, attempts int) {
	m.countInBudgets(r, event.Bounds{Attempts: int64(attempts), Tokens: float64(u.InputTokens + u.OutputTokens + u.OtherTokens), CostUSD: u.CostUSD})
}

func (m *Machine) countInBudgets(r ref, more event.Bounds) {
	if !m.budgeted || more == (event.Bounds{}) {
		return
	}
	for b := range m.budgetsAround(r) {
		b.used.Attempts += more.Attempts
		b.used.Tokens += more.Tokens
		b.used.CostUSD += more.CostUSD
		m.warnOfBudget(b)
	}
}

// warnOfBudget shows the one warning of a budget that is nearly spent, and a second one where a
// spent budget stops nothing.
func (m *Machine) warnOfBudget(b *budget) {
	share := b.share()
	switch {
	case b.warnAt == 0:
	case !b.stops && share >= 100 && !b.beyond:
		b.warned, b.beyond = true, true
		m.showBudget(b, fmt.Sprintf("%s is spent, which stops nothing: %s", b.whose, b.describe()))
	case share >= b.warnAt && !b.warned:
		b.warned = true
		m.showBudget(b, fmt.Sprintf("%.0f%% of %s is used: %s", math.Floor(share), b.whose, b.describe()))
	}
}

// spending is what messages about a budget say in data.
func (b *budget) spending() map[string]any {
	spent := map[string]any{}
	for _, p := range b.parts() {
		if p.most > 0 {
			spent[p.unit] = map[string]any{"used": p.used, "most": p.most}
		}
	}
	return spent
}

func (m *Machine) showBudget(b *budget, words string) {
	about := "warn"
	if b.beyond {
		about = "spent"
	}
	m.sendMessage(b.of, b.notify, about, event.Message{Kind: event.MessageBudget, Level: "warning", Text: words, Data: b.spending()})
	if b.of.node == plan.None {
		m.showTransition(event.Transition{From: event.Running, To: event.Running, Note: event.Warned, Reason: words})
		return
	}
	m.showNote(b.of, event.Warned, words, nil)
}

// warnOfSilence warns once of each agent that does not say what it used, where a budget bounds it.
func (m *Machine) warnOfSilence(a *attempt, f *event.AttemptFinished) {
	if !m.budgeted || a.gate != work || f.Outcome != event.OK {
		return
	}
	g := m.agentOf(a.ref)
	if g == nil || g.Type == ir.AgentNull || m.unreported[g.Name] {
		return
	}
	u := usageOf(f)
	for b := range m.budgetsAround(a.ref) {
		what := ""
		switch {
		case b.most.Tokens > 0 && u.InputTokens+u.OutputTokens+u.OtherTokens == 0:
			what = "tokens"
		case b.most.CostUSD > 0 && u.CostUSD == 0:
			what = "cost_usd"
		default:
			continue
		}
		if m.unreported == nil {
			m.unreported = map[string]bool{}
		}
		m.unreported[g.Name] = true
		m.showNote(a.ref, event.Warned, fmt.Sprintf("agent %q does not say its %s, so it counts 0 in %s", g.Name, what, b.whose), nil)
		return
	}
}

// parts lists the bounds of a budget with what was used of each.
func (b *budget) parts() []budgetPart {
	return []budgetPart{
		{float64(b.used.Attempts), float64(b.most.Attempts), "attempts"}, {b.used.Tokens, b.most.Tokens, "tokens"}, {b.used.CostUSD, b.most.CostUSD, "dollars"},
	}
}

type budgetPart struct {
	used, most float64
	unit       string
}

// isReached allows for what sums of costs lose in rounding.
func (p budgetPart) isReached() bool { return p.most > 0 && p.used >= float64(p.most*(1-1e-9)) }

func (p budgetPart) String() string { return fmt.Sprintf("%.10g of %.10g %s", p.used, p.most, p.unit) }

// share is the used part of the bound that is nearest to its end, in percent.
func (b *budget) share() (most float64) {
	for _, p := range b.parts() {
		switch {
		case p.isReached():
			most = max(most, 100, float64(p.used/p.most*100))
		case p.most > 0:
			most = max(most, float64(p.used/p.most*100))
		}
	}
	return most
}

// reached names the bounds that are reached with so many attempts; "" if there is none.
func (b *budget) reached(attempts int64) string {
	counted := *b
	counted.used.Attempts = attempts
	return counted.list(budgetPart.isReached)
}

// describe says what was used of all bounds.
func (b *budget) describe() string { return b.list(func(p budgetPart) bool { return p.most > 0 }) }

func (b *budget) list(which func(budgetPart) bool) string {
	var words []string
	for _, p := range b.parts() {
		if which(p) {
			words = append(words, p.String())
		}
	}
	return strings.Join(words, ", ")
}
