package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/loop"
	"github.com/flowrun/flowrun/runner/compose"
	"github.com/flowrun/flowrun/runner/event"
)

// source is a source of the loop and what it has listed.
type source struct {
	*ir.Source
	number int
	list   string        // the name of its list over the store
	every  time.Duration // of improvement
	items  []event.Item
	marks  map[string]string // by id: what tells whether an item has changed
	fresh  bool              // of dispatch: the store has not said that something has changed since the list
	left   bool              // of dispatch: the list was too long for an answer
	old    bool              // something has changed since it was asked for the list that is on its way
	next   event.Time        // when it is asked again; 0: in the next round
	known  bool              // not of local ones: what it has listed is all that is known until a watch says that it has changed
	watch  uint64            // the ticket of the attempt that watches it; 0: none does
	mark   string            // of what it has listed last; "": it could not be asked
	quiet  int               // how often in a row it had nothing to take
	failed string            // why its last answer cannot be used, in words

	handled map[string]handling // by agent and id
}

// handling is what the handles say of an item for an agent.
type handling struct {
	mark     string
	why      string // why none takes it, in words
	workflow string
	inputs   map[string]value.Value
	late     map[string]event.Late
}

// bar keeps an item from being taken: until a moment, or until it changes.
type bar struct {
	why   string
	until event.Time // 0: until it changes
	mark  string
	dead  event.Time // when it was found that the item was given up; 0: it was not
	done  bool       // it was done: the bar falls when the source does not list it as open any more
}

// local reports whether a source costs nothing to ask, and says by itself when it has something new.
func (s *source) local() bool { return s.Kind == ir.SourceDispatch || s.Kind == ir.SourceImprovement }

// itemKey names an item over the store.
func (s *source) itemKey(id string) string { return s.list + "/" + id }

// look begins a round of the ladder, if an agent has a free place, or lets another one follow that is under way.
func (m *Machine) look() {
	if m.round != none {
		m.again = true
		return
	}
	if !m.heard || m.draining != "" || m.isFull() || !m.someFree() {
		return
	}
	m.round = 0
	m.climb()
}

// someFree reports whether an agent can take an item now.
func (m *Machine) someFree() bool {
	for _, a := range m.agents {
		if m.free(a) > 0 {
			return true
		}
	}
	return false
}

// free is how many items an agent can take now.
func (m *Machine) free(a *agent) int {
	if m.barredAgent(a) != "" {
		return 0
	}
	return a.places - a.busy
}

// climb goes on with the round: it asks the next source that is to be asked, and ends the round behind the last.
func (m *Machine) climb() {
	for ; m.round < len(m.sources) && m.someFree(); m.round++ {
		s := m.sources[m.round]
		switch {
		case s.Kind == ir.SourceImprovement:
			m.improve(s)
		case s.next > m.now || s.fresh || s.known: // what it has listed is all that is known
			m.choose(s)
		default:
			m.askItems(s)
			return
		}
	}
	m.round = none
	m.rounds++
	if m.again {
		m.again = false
		m.look()
	}
}

// askItems asks a source for its items.
func (m *Machine) askItems(s *source) {
	a := &ask{kind: askList, source: s}
	s.old = false
	if s.Kind == ir.SourceDispatch {
		m.askStore(a, s.Name, &event.StoreRequest{Dispatch: &event.DispatchRequest{Operation: event.DispatchList, Queue: event.QueueDispatch}})
		return
	}
	m.askSource(a, s.Name, &event.SourceRequest{Verb: event.SourceList}, s)
}

// askSource asks a source that an executor carries out.
func (m *Machine) askSource(a *ask, node string, r *event.SourceRequest, s *source) {
	r.Loop, r.List = m.loop.Name, s.list
	at := &event.Attempt{Dir: m.run.Dir}
	_ = m.composer.Source(at, s.Source, r) // settings has computed it, too
	m.start(a, node, s.Name, at)
}

// listed takes the items of a source.
func (m *Machine) listed(s *source, f *event.AttemptFinished) {
	m.takeList(s, f)
	if m.round == s.number {
		m.choose(s)
		m.round++
		m.climb()
	}
}

// takeList keeps what a source has answered to list, or that it could not be asked.
func (m *Machine) takeList(s *source, f *event.AttemptFinished) {
	items, stands, err := readItems(f, s.Name)
	s.known = !s.local()
	if s.failed = ""; err != nil || f.Outcome != event.OK {
		s.failed, s.mark = why(f, err), ""
		m.warn("source "+s.Name, fmt.Sprintf("source %s cannot be asked: %s", s.Name, s.failed))
		s.next = m.now.Add(m.pause(s))
		s.quiet++
		return
	}
	m.calm("source " + s.Name)
	o, _ := f.Output.(map[string]any)
	left, _ := o["left"].(float64)
	s.fresh, s.left = s.Kind == ir.SourceDispatch && !s.old, left > 0
	m.setItems(s, items)
	m.setStands(s, stands)
	before := s.mark
	if s.mark, s.next = event.ListMark(f.Output), 0; s.Into != "" && s.mark != before { // it may have made items there
		m.askAgain(func(to *source) bool { return to.Name == s.Into })
		m.again = m.round != none
	}
}

// askAgain lets sources be asked in the next round, although nobody has said that they have changed.
func (m *Machine) askAgain(which func(*source) bool) {
	for _, s := range m.sources {
		if which(s) && s.failed == "" {
			m.endWatch(s, "the source is asked anew")
			s.next, s.known = 0, false
		}
	}
}

// pause is how long a source is left alone that had nothing to take: each time twice as long.
func (m *Machine) pause(s *source) time.Duration {
	d := m.idle
	for i := 0; i < s.quiet && d < m.idleMax; i++ {
		d *= 2
	}
	return min(d, m.idleMax)
}

// watchFor is how long a source is watched by one attempt, if it has nothing new. A driver that dies, and an attempt that falls silent,
// make no watch longer than that.
const watchFor = 6 * time.Hour

// keepWatches has the sources be watched that do not say by themselves when something has changed: while no round is under way, and only
// as long as an agent could take something.
func (m *Machine) keepWatches() {
	can := m.draining == "" && !m.isFull() && m.someFree() && m.limits.until(m.now) <= m.now
	for _, s := range m.sources {
		switch {
		case !can:
			m.endWatch(s, "nobody can take anything")
		case m.round == none && s.watch == 0 && (s.known || s.next > m.now):
			w := &event.SourceWatch{Known: s.mark, Every: m.pause(s), Most: m.idleMax, For: max(watchFor, m.idleMax)}
			m.askSource(&ask{kind: askWatch, source: s}, s.Name, &event.SourceRequest{Verb: event.SourceList, Watch: w}, s)
			s.watch = m.tickets
		}
	}
}

// endWatch ends the watch of a source, if there is one. The source is asked in the next round.
func (m *Machine) endWatch(s *source, reason string) {
	if s.watch == 0 {
		return
	}
	delete(m.asks, s.watch)
	m.do(event.Command{Cancel: &event.CancelAttempt{Ticket: s.watch, Node: s.Name, Reason: reason}})
	s.watch, s.known = 0, false
}

// watched takes the answer of a watch. The next one begins when the round has ended that looks at what has changed.
func (m *Machine) watched(s *source, f *event.AttemptFinished) {
	s.watch = 0
	if f.Outcome == event.OK && event.IsUnchanged(f.Output) {
		s.quiet = maxQuiet
		return
	}
	if m.takeList(s, f); s.failed == "" {
		s.quiet = min(s.quiet+1, maxQuiet)
		m.look()
	}
}

// maxQuiet is so often that no pause is longer than the one after it.
const maxQuiet = 62

// refresh lets all sources be asked in the next round that do not say by themselves when something has changed.
func (m *Machine) refresh() {
	for _, s := range m.sources {
		if s.failed == "" {
			m.endWatch(s, "the source is asked anew")
			s.next, s.quiet, s.known = 0, 0, false
		}
		s.fresh = s.fresh && !s.left
	}
}

// stale lets the queues of the store be asked in the next round.
func (m *Machine) stale() {
	for _, s := range m.sources {
		s.fresh, s.old = false, true
	}
}

// readItems reads the answer to list: the items, and how the claims of those stand that are not open, where the answer says it.
func readItems(f *event.AttemptFinished, source string) (out []event.Item, stands map[string]event.Claim, err error) {
	o, _ := f.Output.(map[string]any)
	list, is := o["items"].([]any)
	if f.Outcome == event.OK && !is {
		return nil, nil, fmt.Errorf("the answer has no list of items")
	}
	seen := map[string]bool{}
	out, stands = make([]event.Item, 0, len(list)), map[string]event.Claim{}
	for _, v := range list {
		i, err := event.ItemOf(v)
		if err != nil {
			return nil, nil, err
		}
		if seen[i.ID] { // the first one counts
			continue
		}
		seen[i.ID], i.Source = true, source
		out = append(out, i)
		row := v.(map[string]any)
		if row["claim"] == nil {
			continue
		}
		c, err := event.ClaimOf(row["claim"])
		if err != nil {
			return nil, nil, err
		}
		if state, is := row["state"].(string); is {
			c.State = event.ClaimState(state)
		}
		stands[i.ID] = c
	}
	return out, stands, nil
}

// setStands bars the items that others have or that were given up, and no other items of a queue of the store. What becomes of an item that
// this loop has is known when the work on it ends.
func (m *Machine) setStands(s *source, stands map[string]event.Claim) {
	if s.Kind != ir.SourceDispatch {
		return
	}
	for i := range s.items {
		it := &s.items[i]
		k := s.itemKey(it.ID)
		if slices.ContainsFunc(m.work, func(w *work) bool { return w.key == k }) {
			continue
		}
		delete(m.barred, k)
		switch c := stands[it.ID]; c.State {
		case event.ClaimHeld:
			m.barred[k] = bar{why: fmt.Sprintf("%s of loop %s has it", c.Agent, c.Loop), until: c.Until, mark: s.marks[it.ID]}
		case event.ClaimParked:
			m.barred[k] = bar{why: fmt.Sprintf("%s of loop %s has it, and its run waits", c.Agent, c.Loop), mark: s.marks[it.ID]}
		case event.ClaimDead:
			m.barred[k] = bar{why: "it was given up after failures", mark: s.marks[it.ID]}
		case event.ClaimOpen, event.ClaimClosed:
		}
	}
}

// setItems keeps what a source has listed, and tells of circles of needs.
func (m *Machine) setItems(s *source, items []event.Item) {
	if s.items, s.marks = items, make(map[string]string, len(items)); !s.left {
		m.unbarDone(s)
	}
	board := make([]loop.Item, len(items))
	for i := range items {
		s.marks[items[i].ID] = mark(&items[i])
		board[i].Item = items[i]
	}
	for k, h := range s.handled { // any order: each for itself
		if id := k[len(h.agent(k)):]; s.marks[id] != h.mark {
			delete(s.handled, k)
		}
	}
	for _, circle := range loop.Circles(board) {
		m.warn(fmt.Sprint("circle ", s.Name, circle), fmt.Sprintf("items of source %s need each other, and none of them is taken: %s", s.Name, joined(circle)))
	}
}

// unbarDone lets items be taken again that were done and that the source does not list as open any more: what is listed as open later is open
// again.
func (m *Machine) unbarDone(s *source) {
	open := make(map[string]bool, len(s.items))
	for i := range s.items {
		open[s.itemKey(s.items[i].ID)] = !s.items[i].Closed
	}
	maps.DeleteFunc(m.barred, func(k string, b bar) bool { return b.done && !open[k] && strings.HasPrefix(k, s.list+"/") })
}

// agent is the part of a key of handled that names the agent.
func (handling) agent(k string) string {
	for i := range k {
		if k[i] == 0 {
			return k[:i+1]
		}
	}
	return k
}

func joined(words []string) string {
	const most = 10
	text := ""
	for i, w := range words {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(words)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return text
}

// mark tells whether an item is as it was.
func mark(i *event.Item) string {
	if i.Version != "" {
		return i.Version
	}
	text, err := json.Marshal(i)
	if err != nil {
		return key(err.Error())
	}
	return key(string(text))
}

// board makes the board of one source, for all agents.
func (m *Machine) board(s *source) *loop.Board {
	b := &loop.Board{Sources: []loop.Source{{Name: s.Name, Items: make([]loop.Item, len(s.items))}}}
	for _, a := range m.agents {
		b.Agents = append(b.Agents, loop.Agent{Name: a.Name, Capabilities: a.Capabilities, Free: max(0, a.places-a.busy), Barred: m.barredAgent(a)})
	}
	taken := map[string]*work{}
	for _, w := range m.work {
		taken[w.key] = w
	}
	for i := range s.items {
		it, k := &b.Sources[0].Items[i], s.itemKey(s.items[i].ID)
		it.Item = s.items[i]
		if w := taken[k]; w != nil {
			it.Taken = w.words()
		} else if bar, is := m.barred[k]; is && !it.Closed { // else the bar is kept: a list can say now this and now that
			switch {
			case bar.mark == s.marks[it.ID] && (bar.until == 0 || bar.until > m.now):
				it.Barred = bar.why
			default:
				delete(m.barred, k)
			}
		}
	}
	if s.failed != "" {
		b.Sources[0].Barred = "its source cannot be asked: " + s.failed
	} else if m.shut.until > m.now {
		b.Sources[0].Barred = m.shut.why
	}
	b.Handled = func(agent string, _ int, item *event.Item) string { return m.handle(s, agent, item).why }
	return b
}

// choose gives the free agents items of a source.
func (m *Machine) choose(s *source) {
	b := m.board(s)
	for _, c := range b.Choose() {
		if !m.limits.allow(m) {
			return
		}
		a, it := m.agents[c.Agent], &s.items[c.Item]
		s.quiet = 0
		m.claim(s, a, it, m.handle(s, a.Name, it))
	}
}

// handle finds the handle that an item has, with the inputs of its workflow.
func (m *Machine) handle(s *source, agent string, item *event.Item) handling {
	k, mk := agent+"\x00"+item.ID, s.marks[item.ID]
	if h, known := s.handled[k]; known && h.mark == mk {
		return h
	}
	h, faults := m.findHandle(s, agent, item)
	for _, text := range faults {
		m.warn("handle "+s.itemKey(item.ID)+mk, text)
	}
	if h.why != "" {
		m.warn("unhandled "+s.itemKey(item.ID)+mk, fmt.Sprintf("item %s of source %s is left where it is: %s", item.ID, s.Name, h.why))
	}
	if s.handled == nil {
		s.handled = map[string]handling{}
	}
	s.handled[k] = h
	return h
}

// findHandle computes the handle that an item has, and says in words which conditions cannot be computed. It changes nothing.
func (m *Machine) findHandle(s *source, agent string, item *event.Item) (h handling, faults []string) {
	h = handling{mark: s.marks[item.ID], why: fmt.Sprintf("no handle takes it for %s", agent)}
	sc := m.itemScope(item, agent)
	for i := range m.loop.Handles {
		x := &m.loop.Handles[i]
		if x.When != nil {
			holds, err := m.composer.Condition(x.When, sc)
			if err != nil {
				faults = append(faults, fmt.Sprintf("handle %d of item %s: when cannot be computed: %s", i+1, item.ID, err))
			}
			if !holds {
				continue
			}
		}
		h.why, h.workflow = "", x.Workflow
		var err error
		if h.inputs, h.late, err = m.composer.ChildInputs(&ir.Call{Workflow: x.Workflow, With: x.With}, sc); err != nil {
			h.why = fmt.Sprintf("the inputs of workflow %s cannot be computed: %s", x.Workflow, err)
		}
		break
	}
	return h, faults
}

// itemScope is where expressions about an item are computed.
func (m *Machine) itemScope(item *event.Item, worker string) *compose.Scope {
	sc := m.composer.Constants()
	sc.Mode, sc.More = compose.InItem, compose.Item{Value: item.Value(), Worker: worker}
	return sc
}

// nextImprovement is when the next workflow of a rotation may begin. There is a pause at any rate, so that workflows that do nothing are not
// run without an end.
func (m *Machine) nextImprovement(s *source) event.Time { return m.improved.Add(max(s.every, m.idle)) }

// improve has the next workflow of the rotation run, if nothing else is to be done for an agent and the time has come.
func (m *Machine) improve(s *source) {
	for _, w := range m.work {
		if w.source == s {
			return
		}
	}
	if m.improved != 0 && m.now < m.nextImprovement(s) {
		return
	}
	for _, a := range m.agents {
		if m.free(a) <= 0 || !m.limits.allow(m) {
			continue
		}
		before := m.improved
		workflow := s.Rotate[m.turns%len(s.Rotate)]
		it := &event.Item{ID: fmt.Sprintf("%s-%s-%d", m.run.Run, workflow, m.turns+1), Source: s.Name, Title: workflow, CreatedAt: m.now}
		inputs, late, err := m.composer.ChildInputs(&ir.Call{Workflow: workflow, With: s.With}, m.itemScope(it, a.Name))
		m.turns++
		m.improved = m.now
		if err != nil {
			m.warn("", fmt.Sprintf("the inputs of workflow %s of source %s cannot be computed: %s", workflow, s.Name, err))
			return
		}
		m.claim(s, a, it, handling{workflow: workflow, inputs: inputs, late: late})
		m.work[len(m.work)-1].before = before
		return
	}
}
