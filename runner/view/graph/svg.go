package graph

import (
	"bytes"
	"fmt"
	"strings"
)

// Room around the whole drawing, and above it for its title.
const (
	margin     = 20
	titleSpace = 34
	noteSpace  = 24
)

// SVG draws the graph. It looks right on light and on dark pages, as the reader's system prefers. The error is a
// [*TooLarge].
func (g *Graph) SVG() ([]byte, error) { return g.draw(style, nil) }

// Part draws the graph for a page that has [Style]. link gives the address behind the box of a node; "" is none. The error is a [*TooLarge].
func (g *Graph) Part(link func(*Node) string) ([]byte, error) { return g.draw(arrows, link) }

func (g *Graph) draw(looks string, link func(*Node) string) ([]byte, error) {
	g, shared := g.shareMarks()
	l, err := g.layOut()
	if err != nil {
		return nil, err
	}
	d := &drawing{g: g, href: link}
	d.level(l, margin, margin+titleSpace)
	note := strings.Join(append(shared, g.note()...), "   ")
	width := max(l.width, titleChar*cells(g.heading()), smallChar*cells(note)) + 2*margin
	height := l.height + titleSpace + 2*margin
	if note != "" {
		height += noteSpace
	}
	role := "img"
	if link != nil { // a picture has no links
		role = "group"
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"%s\" aria-labelledby=\"t\">\n", width, height, width, height, role)
	fmt.Fprintf(&out, "<title id=\"t\">%s</title>\n", escape(g.heading()))
	if g.Description != "" {
		fmt.Fprintf(&out, "<desc>%s</desc>\n", escape(cut(g.Description, 1000)))
	}
	out.WriteString(looks)
	fmt.Fprintf(&out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", width, height)
	fmt.Fprintf(&out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+14, escape(g.heading()))
	out.Write(d.out.Bytes())
	if note != "" {
		fmt.Fprintf(&out, "<text class=\"small\" x=\"%d\" y=\"%d\">%s</text>\n", margin, height-margin, escape(note))
	}
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

// heading names what is drawn.
func (g *Graph) heading() string {
	name := cut(g.Workflow, 2*maxChars)
	if g.Run != "" {
		name = fmt.Sprintf("%s, run %s: %s", name, g.Run, g.word)
	}
	if len(g.Bounds) > 0 {
		name += ": " + cut(strings.Join(g.Bounds, ", "), 2*maxChars)
	}
	if len(g.Starts) > 0 {
		name += "; started by " + cut(strings.Join(g.Starts, ", "), 2*maxChars)
	}
	if g.Excerpt != "" {
		name += "; " + cut(g.Excerpt, 2*maxChars)
	}
	return name
}

// note explains the lines, where there is more than one sort.
func (g *Graph) note() []string {
	for _, e := range g.Edges {
		if e.Kind == Observes {
			return []string{"Broken line: waits until the node has finished, however it ended."}
		}
	}
	return nil
}

// drawing collects what stands below the title.
type drawing struct {
	g    *Graph
	href func(*Node) string // nil: boxes lead nowhere
	out  bytes.Buffer
}

func (d *drawing) level(l *level, x, y int) {
	for _, k := range l.links {
		d.link(l, k, x, y)
	}
	for _, it := range l.items {
		if it.node >= 0 {
			d.box(it, x+it.x, y+it.y)
		}
	}
}

// box draws a node, and what lies in it.
func (d *drawing) box(it *item, x, y int) {
	n := &d.g.Nodes[it.node]
	class := "step"
	if it.inner != nil {
		class = "group"
	}
	if n.State != nil {
		class += " " + string(n.State.Status)
	}
	to := ""
	if d.href != nil {
		to = d.href(n)
	}
	if to != "" {
		fmt.Fprintf(&d.out, "<a href=\"%s\">", escape(to))
	}
	fmt.Fprintf(&d.out, "<g class=\"%s\"><title>%s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/></g>\n",
		class, escape(n.about()), x, y, it.width, it.height, 6)
	if to != "" {
		d.out.WriteString("</a>\n")
	}
	if it.inner != nil {
		for _, k := range it.inner.links {
			d.link(it.inner, k, x+it.inner.left, y+it.inner.head)
		}
	}
	d.text(n, it, class, x, y)
	if it.inner != nil {
		for _, below := range it.inner.items {
			if below.node >= 0 {
				d.box(below, x+it.inner.left+below.x, y+it.inner.head+below.y)
			}
		}
	}
}

// text writes a node's lines: in the middle of a step, at the left of a group.
func (d *drawing) text(n *Node, it *item, class string, x, y int) {
	anchor, at := " text-anchor=\"middle\"", x+it.width/2
	if it.inner != nil {
		anchor, at = "", x+it.textAt
	}
	fmt.Fprintf(&d.out, "<g class=\"%s\"%s>", class, anchor)
	line := y + padAbove
	for i, r := range n.rows(it.chars) {
		height := smallLine
		if i == 0 {
			height = titleLine
		}
		kind := ""
		if i == 0 && it.inner != nil && n.Kind != Case && n.Kind != Finally {
			kind = fmt.Sprintf("<tspan class=\"small\" dx=\"%d\">%s</tspan>", smallChar, n.word())
		}
		line += height
		fmt.Fprintf(&d.out, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s%s</text>", r.class, at, line-4, escape(r.text), kind)
	}
	d.out.WriteString("</g>\n")
}

// about is all that is known of a node, uncut, for who points at it.
func (n *Node) about() string {
	lines := []string{n.Title}
	if n.Does != "" {
		lines = append(lines, n.Does)
	}
	if n.Description != "" {
		lines = append(lines, n.Description)
	}
	lines = append(lines, n.Marks...)
	if n.State != nil {
		lines = append(lines, n.State.String())
		if n.State.Reason != "" {
			lines = append(lines, n.State.Reason)
		}
	}
	for i := range lines {
		lines[i] = cut(lines[i], 1000)
	}
	return strings.Join(lines, "\n")
}

// link draws a link from row to row: straight down to the edge of the row, a curve through the gap, straight down to its end.
func (d *drawing) link(l *level, k *link, dx, dy int) {
	x1, y1 := dx+k.from.x+k.fromAt, dy+k.from.y+k.from.height
	x2, y2 := dx+k.to.x+k.toAt, dy+k.to.y
	from, to := dy+l.bottoms[k.from.rank], dy+l.tops[k.to.rank]
	switch k.from.kind {
	case in:
		y1 = dy - l.head
	case bend:
		y1 = dy + l.tops[k.from.rank]
	}
	if k.to.kind == out {
		y2 = dy + l.height + padBottom
	}
	path := fmt.Sprintf("M%d %d", x1, y1)
	if x1 == x2 {
		path += fmt.Sprintf("V%d", y2)
	} else { // the arrow at an end points along the last piece, so a piece without a length would turn it
		if from != y1 {
			path += fmt.Sprintf("V%d", from)
		}
		middle := (from + to) / 2
		path += fmt.Sprintf("C%d %d %d %d %d %d", x1, middle, x2, middle, x2, to)
		if to != y2 {
			path += fmt.Sprintf("V%d", y2)
		}
	}
	marker := ""
	switch {
	case k.head > 0:
		marker = " marker-end=\"url(#down)\""
	case k.head < 0:
		marker = " marker-start=\"url(#up)\""
	}
	fmt.Fprintf(&d.out, "<path class=\"edge %s\"%s d=\"%s\"/>\n", k.kind, marker, path)
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\"", "&quot;", "'", "&#39;", "\n", "&#10;")

func escape(s string) string { return escapes.Replace(s) }
