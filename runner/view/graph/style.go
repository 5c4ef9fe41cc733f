package graph

import "strings"

// tint is how a status looks: the fill and the border of its boxes on light pages, and on dark ones. The status also
// stands in the box as a word, so nothing is told by colour alone.
type tint struct{ status, fill, line, darkFill, darkLine string }

var tints = []tint{
	{"pending", "#ffffff", "#9aa4af", "#161b22", "#6e7681"},
	{"running", "#ddf4ff", "#0969da", "#0c2d4d", "#4493f8"},
	{"waiting", "#eef2ff", "#5b5bd6", "#1d1f47", "#9b9cf2"},
	{"succeeded", "#dafbe1", "#1a7f37", "#0f2d19", "#3fb950"},
	{"failed", "#ffebe9", "#cf222e", "#3d1214", "#f85149"},
	{"skipped", "#f6f8fa", "#848d97", "#12161c", "#6e7681"},
	{"blocked", "#fff1e5", "#bc4c00", "#3a1d0a", "#f0883e"},
	{"cancelled", "#fff8c5", "#9a6700", "#2f2507", "#d29922"},
}

// style is what a drawing says about its looks, once, and the heads of its arrows.
var style = "<style>\n" + makeStyle() + "</style>\n" + arrows

// Style is the style sheet of drawings that are a part of a page: it concerns what is inside of an element with the class graph.
func Style() string { return ".graph{\n" + makeStyle() + "}\n" }

// arrows are the heads of arrows.
const arrows = `<defs>
<marker id="down" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>
<marker id="up" viewBox="0 0 8 8" refX="0.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M8 0L0 4L8 8z"/></marker>
</defs>
`

func makeStyle() string {
	var b strings.Builder
	b.WriteString(`text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:11px;fill:#57606a}
text.title{font-size:13px;font-weight:600;fill:#1f2328}
tspan.small{font-size:11px;font-weight:400;fill:#57606a}
text.state{font-weight:600}
.group text{paint-order:stroke;stroke:#f6f8fa;stroke-width:4px;stroke-linejoin:round}
.page{fill:#ffffff}
rect{stroke-width:1.2}
.step rect{fill:#ffffff;stroke:#6e7781}
.group rect{fill:#f6f8fa;stroke:#afb8c1}
.edge{fill:none;stroke:#6e7781;stroke-width:1.3}
.observes{stroke-dasharray:5 4}
marker path{fill:#6e7781}
`)
	for _, t := range tints {
		b.WriteString(".step." + t.status + " rect{fill:" + t.fill + ";stroke:" + t.line + "}\n")
		b.WriteString(".group." + t.status + " rect{stroke:" + t.line + "}\n")
		b.WriteString("." + t.status + " text.state{fill:" + t.line + "}\n")
	}
	b.WriteString(`.skipped rect,.pending rect{stroke-dasharray:3 3}
@media (prefers-color-scheme:dark){
text,tspan.small{fill:#9198a1}
text.title{fill:#f0f6fc}
.group text{stroke:#0d1117}
.page{fill:#010409}
.step rect{fill:#161b22;stroke:#8b949e}
.group rect{fill:#0d1117;stroke:#3d444d}
.edge{stroke:#8b949e}
marker path{fill:#8b949e}
`)
	for _, t := range tints {
		b.WriteString(".step." + t.status + " rect{fill:" + t.darkFill + ";stroke:" + t.darkLine + "}\n")
		b.WriteString(".group." + t.status + " rect{stroke:" + t.darkLine + "}\n")
		b.WriteString("." + t.status + " text.state{fill:" + t.darkLine + "}\n")
	}
	b.WriteString("}\n")
	return b.String()
}
