package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/view"
)

// Tree repaints a run in place. While all nodes fit on the screen the whole tree is shown; a larger run shows what is
// under way, and what has finished scrolls up, a line each. Only cursor-up and clear are used.
type Tree struct {
	t      *Term
	scene  Scene
	run    *view.Run
	frame  int
	now    event.Time
	above  strings.Builder       // waits to be printed above the tree
	below  []string              // the lines painted last
	end    string                // the last sentence
	small  bool                  // compact: once the tree did not fit, until the next resize
	gone   bool                  // rows of the tree have left the screen at the top
	shown  []shownLine           // the last lines that were printed above the tree, maxShown of them at most
	active []*view.Node          // leaves under way, in order of start; may hold some that ended since
	said   map[*view.Node]Saying // the last word of agents at work
	done   []*view.Node          // leaves that ended and were not scrolled up yet

	painted [2]int // the columns and rows of the terminal when the tree was painted last; 0 before
}

// NewTree makes a Progress for a terminal that can be repainted.
func NewTree(t *Term, s Scene) *Tree { return &Tree{t: t, scene: s} }

// Update implements Progress. It paints at once only for a failure; Tick paints the rest.
func (p *Tree) Update(r *view.Run, lines []view.Line, past bool) {
	p.run = r
	urgent := false
	for i := range lines {
		l := &lines[i]
		p.now = max(p.now, l.Time)
		n := r.Node(l.Node)
		if l.Status.Terminal() {
			delete(p.said, n)
		}
		switch {
		case n == nil || !l.Leaf:
		case l.Gate != nil || l.Note != "" || l.AsksToEnd():
		case l.Status.Terminal():
			if !past && !failed(l) { // a failure is told with its details
				p.done = append(p.done, n)
			}
		case l.Status == event.Running || l.Status == event.Waiting:
			p.active = append(p.active, n)
		}
		if past {
			continue
		}
		if failed(l) {
			fmt.Fprintf(&p.above, "%s\n%s", sentence(p.t, l), details(p.t, &p.scene, l))
			urgent = true
		}
		if l.Type == view.Resumed || l.AsksToEnd() || l.Note != "" && !failed(l) {
			fmt.Fprintln(&p.above, sentence(p.t, l))
		}
		if l.End != nil {
			p.end = sentence(p.t, l)
		}
	}
	if urgent {
		p.paint()
	}
}

// Tick implements Progress.
func (p *Tree) Tick(now time.Time) {
	if p.run == nil {
		return
	}
	p.now = max(p.now, event.At(now))
	p.frame++
	p.paint()
}

// Close implements Progress: the last state stays on the screen.
func (p *Tree) Close(now time.Time) {
	if p.run == nil {
		return
	}
	p.now = max(p.now, event.At(now))
	p.paint()
	p.below = nil
	if p.end != "" {
		p.t.Printf("%s\n", p.end)
	}
}

// paint replaces what was painted last, in one write.
func (p *Tree) paint() {
	columns, rows := p.t.Size()
	resized := p.painted != [2]int{} && p.painted != [2]int{columns, rows}
	if resized {
		p.small = false
	}
	said := p.above.Len()
	lines := p.lines(columns, rows)
	var b strings.Builder
	p.clear(&b, columns, rows, resized, len(lines))
	for _, l := range strings.SplitAfter(p.above.String(), "\n") {
		if l == "" {
			continue
		}
		l = strings.TrimSuffix(l, "\n")
		b.WriteString(l + "\x1b[K\n")
		p.shown = append(p.shown[max(0, len(p.shown)+1-maxShown):], shownLine{l, said <= 0})
		said -= len(l) + 1
	}
	p.above.Reset()
	p.painted = [2]int{columns, rows}
	for _, l := range lines {
		b.WriteString(l + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	p.below = lines
	p.t.Printf("%s", b.String())
}

// maxShown bounds the lines above the tree that are painted again after a resize.
const maxShown = 200

// shownLine is a line that was printed above the tree. ended says that it is a node that has ended, which the whole tree shows, too.
type shownLine struct {
	text  string
	ended bool
}

// clear moves the cursor to where the tree begins. After a resize it erases what was painted last before anything is painted, because
// some terminals keep for a row that is overwritten that the next row continues it. If the terminal became lower, rows of the tree have
// left the screen at the top. They come back when the terminal becomes higher; then clear paints the whole screen again.
func (p *Tree) clear(b *strings.Builder, columns, rows int, resized bool, tree int) {
	up := height(p.below, columns)
	switch {
	case resized && p.gone && (columns > p.painted[0] || rows > p.painted[1]):
		p.gone = false
		fmt.Fprintf(b, "\r\x1b[%dA\x1b[J", rows) // from the top
		p.repaintShown(b, columns, rows-1-tree)
		return
	case up > 0:
		fmt.Fprintf(b, "\r\x1b[%dA", up)
	}
	if resized {
		b.WriteString("\x1b[J")
		p.gone = p.gone || up >= rows
	}
}

// repaintShown paints the last lines that were printed above the tree and fit into a number of rows.
func (p *Tree) repaintShown(b *strings.Builder, columns, rows int) {
	first := len(p.shown)
	for ; first > 0; first-- {
		if l := p.shown[first-1]; p.small || !l.ended {
			if rows -= height([]string{l.text}, columns); rows < 0 {
				break
			}
		}
	}
	for _, l := range p.shown[first:] {
		if p.small || !l.ended {
			b.WriteString(l.text + "\n")
		}
	}
}

// height is how many rows lines take on a terminal that may have become narrower since they were painted.
func height(lines []string, columns int) int {
	n := 0
	for _, l := range lines {
		n += max(1, (Cells(unstyled(l))+columns-1)/columns)
	}
	return n
}

// unstyled removes the sequences that Style adds.
func unstyled(s string) string {
	for {
		start := strings.Index(s, "\x1b[")
		if start < 0 {
			return s
		}
		end := strings.IndexByte(s[start:], 'm')
		if end < 0 {
			return s[:start]
		}
		s = s[:start] + s[start+end+1:]
	}
}

// lines is the picture of the run, at most rows-2 lines of less than columns cells each.
func (p *Tree) lines(columns, rows int) []string {
	bound := max(1, rows-2)
	if p.small = p.small || p.run.Size()+1 > bound; !p.small {
		var nodes []rowNode
		p.run.Each(func(n *view.Node, depth int) {
			nodes = append(nodes, rowNode{n: n, depth: depth, said: cmp.Or(p.word(n), queued(p.run, n)), stands: p.run.Stands})
		})
		return append(p.rows(nodes, columns), p.footer(columns))
	}
	var finished, under []rowNode
	for _, n := range p.done {
		finished = append(finished, rowNode{n: n, depth: -1})
	}
	p.done = nil
	for _, l := range p.rows(finished, columns) {
		p.above.WriteString(l + "\n")
	}
	p.active = stillActive(p.active)
	for _, n := range p.active[:min(len(p.active), bound-1)] {
		under = append(under, rowNode{n: n, depth: -1, said: cmp.Or(p.word(n), queued(p.run, n)), stands: p.run.Stands})
	}
	return append(p.rows(under, columns), p.footer(columns))
}

// stillActive drops what has ended, groups and repeats, in place.
func stillActive(nodes []*view.Node) []*view.Node {
	seen := make(map[*view.Node]bool, len(nodes))
	kept := nodes[:0]
	for _, n := range nodes {
		if !n.Status.Terminal() && len(n.Children) == 0 && !seen[n] {
			seen[n] = true
			kept = append(kept, n)
		}
	}
	return kept
}

// footer counts the leaves.
func (p *Tree) footer(columns int) string {
	var parts []string
	if p.run.Stands != 0 || p.run.Status == event.Waiting {
		parts = append(parts, p.run.Word())
	}
	unmade := 0 // instances that have not begun
	p.run.Each(func(n *view.Node, _ int) {
		if !n.Status.Terminal() && n.Members > 0 {
			unmade += n.Members - len(n.Children)
		}
	})
	for _, s := range statusOrder {
		n := p.run.Leaves[s]
		if s == event.Pending {
			n += unmade
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	parts = append(parts, Duration(p.run.Duration(p.now)))
	return p.t.Style(dim, Truncate("  "+Clean(p.run.Workflow)+" "+p.run.ID+": "+strings.Join(parts, ", "), columns-1))
}

func (p *Tree) rows(nodes []rowNode, columns int) []string {
	return rows(p.t, nodes, p.now, p.frame, columns-1)
}

// Hear implements Progress: the words stand with the node until it says others or ends.
func (p *Tree) Hear(s Saying) {
	n := s.of(p.run)
	if n == nil {
		return
	}
	if p.said == nil {
		p.said = map[*view.Node]Saying{}
	}
	p.said[n] = s
}

// Work implements Progress: the last line stands with the node.
func (p *Tree) Work(b *view.Begun) {
	if text := lastSaid(b); text != "" {
		p.Hear(Saying{Node: b.Node, Attempt: b.Attempt, Text: text})
	}
}

// word is what a node said last in the attempt that it is at.
func (p *Tree) word(n *view.Node) string {
	s, known := p.said[n]
	switch {
	case !known:
		return ""
	case s.of(p.run) != n:
		delete(p.said, n)
		return ""
	}
	return s.words()
}

// Say implements Progress.
func (p *Tree) Say(text string) {
	p.above.WriteString(text + "\n")
	if p.run != nil {
		p.paint()
	}
}
