package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/schema"
)

// Markdown writes the table as the page language.md.
func (t *Table) Markdown() string {
	w := &writer{}
	w.line("# The language\n\nWritten by `go generate ./dsl/reference` from the tables that the checker reads. A program is one file, or the files of a folder.")
	w.line("\n- **value**: an HCL expression; it is computed when the node starts. A **duration** is one that gives a text such as `\"1m30s\"`,\n  a **command** a list of program and arguments, or a script in a string, an **environment** an object of texts.\n- **condition**: an expr-lang condition in a literal string, such as `\"step.build.exit_code == 0\"`.\n- **word**, **text**, **flag**, **strings**, **type**: written out; they are read with the file and never computed.\n- **reference**: the bare name of a declaration, such as `agent.backend`; **references** is a list of them.")
	t.blocks(w)
	t.names(w)
	t.functions(w)
	w.line("\n## Limits\n\n| what | most |\n|---|---|")
	for _, l := range t.Limits {
		w.row(l.What, amount(l.Most, l.Units))
	}
	w.line("\n## Codes\n\n| code | meaning |\n|---|---|")
	for _, c := range t.Codes {
		w.row(fmt.Sprintf("[%s](codes/%s.md)", c.Code, c.Code), c.Title)
	}
	return w.String()
}

// amount writes a bound: bytes in powers of two where they are some, other numbers with commas.
func amount(n int, units string) string {
	if units == "bytes" {
		for _, u := range []struct {
			size int
			name string
		}{{1 << 20, "MiB"}, {1 << 10, "KiB"}} {
			if n >= u.size && n%u.size == 0 {
				return fmt.Sprintf("%d %s", n/u.size, u.name)
			}
		}
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && len(s) > 4; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return strings.TrimSpace(s + " " + units)
}

func (t *Table) blocks(w *writer) {
	w.line("\n## Blocks")
	for _, b := range t.Blocks {
		if !b.Later {
			w.line("\n" + strings.TrimSuffix(b.markdown("### "), "\n"))
		}
	}
	if len(t.Planned) == 0 {
		return
	}
	w.line("\n### Planned, not in this release\n\nThese belong to the language. A file that uses one is refused ([F0110](codes/F0110.md), [F0304](codes/F0304.md)), so that nothing is accepted and ignored.\n\n| what | | what it is for | what to write today |\n|---|---|---|---|")
	for _, p := range t.Planned {
		w.row(code(p.Name), p.Kind, p.Doc, p.Instead)
	}
}

// markdown is a block with its attributes.
func (b *Block) markdown(level string) string {
	w := &writer{}
	name := b.Kind
	if b.Label != "" {
		name += ` "` + strings.ToUpper(b.Label) + `"`
	}
	switch b.Kind {
	case "file":
		name = "file (the top)"
	case "flowtest":
		name = "flowtest (the top of a test file)"
	}
	if b.Later {
		name += planned
	}
	w.line(level + name + "\n\n" + b.Doc)
	if b.Later {
		w.line("\nWhat to write today: " + b.Instead)
	}
	if len(b.In) > 0 {
		where := "It " + map[bool]string{true: "will stand", false: "stands"}[b.Later] + " in " + list(b.In) + "."
		if b.Once {
			where = strings.TrimSuffix(where, ".") + ", once."
		}
		w.line("\n" + where)
	}
	if b.Free {
		w.line("\nIts attributes have any names.")
	}
	if carried := b.carried(); len(carried) > 0 {
		w.line("\n| attribute | takes | default | |\n|---|---|---|---|")
		for _, a := range carried {
			w.row("`"+a.Name+"`", a.takes(), a.byDefault(), a.Doc)
		}
	}
	for _, a := range b.carried() {
		if len(a.Members) > 0 {
			w.line("\nMembers of each of `" + a.Name + "`:\n\n" + a.membersTable())
		}
	}
	var later []string
	for _, a := range b.Attributes {
		if a.Later {
			later = append(later, "`"+a.Name+"`")
		}
	}
	if len(later) > 0 {
		w.line("\nPlanned, not in this release: " + strings.Join(later, ", ") + ".")
	}
	if b.Example != "" {
		w.line("\n```hcl\n" + strings.TrimSuffix(b.Example, "\n") + "\n```")
	}
	inside, later := b.inside()
	if len(inside) > 0 {
		w.line("\nBlocks inside: " + strings.Join(quoted(inside), ", ") + ".")
	}
	if len(later) > 0 {
		w.line("\nBlocks planned, not in this release: " + strings.Join(quoted(later), ", ") + ".")
	}
	return w.String()
}

// membersTable are the members of the objects of a list.
func (a *Attribute) membersTable() string {
	w := &writer{}
	w.line("| member | takes | default | |\n|---|---|---|---|")
	var later []string
	for _, m := range a.Members {
		if m.Later {
			later = append(later, "`"+m.Name+"`")
			continue
		}
		w.row("`"+m.Name+"`", m.takes(), m.byDefault(), m.Doc)
	}
	if later != nil {
		w.line("\nPlanned, not in this release: " + strings.Join(later, ", ") + ".")
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// planned stands behind the name of what is not in this release.
const planned = " (planned, not in this release)"

// inside are the kinds of block that may stand inside, and those that will.
func (b *Block) inside() (now, later []string) {
	for _, kind := range b.Blocks {
		if schema.Blocks[b.Kind].Inside(kind).Later != nil {
			later = append(later, kind)
		} else {
			now = append(now, kind)
		}
	}
	return now, later
}

func (b *Block) carried() []Attribute {
	return slices.DeleteFunc(slices.Clone(b.Attributes), func(a Attribute) bool { return a.Later })
}

func (a *Attribute) takes() string {
	s := a.Kind
	switch {
	case len(a.Words) > 0:
		s = "one of " + strings.Join(wordsOf(a.Words), ", ")
	case a.Kind == "reference":
		s = "a reference to " + article(a.Type)
	case a.Kind == "references":
		s = "references to " + article(a.Type)
	case a.Type != "":
		s = "value, " + a.Type
	}
	if a.Max > 0 {
		s += fmt.Sprintf(", %s to %s", amount(int(a.Min), ""), amount(int(a.Max), ""))
	}
	if a.Required {
		s += "; required"
	}
	if len(a.Planned) > 0 {
		s += "; planned, not in this release: " + strings.Join(wordsOf(a.Planned), ", ")
	}
	return s
}

func (t *Table) names(w *writer) {
	w.line("\n## Names\n\nWhich names an expression can read depends on where it stands; `agent.NAME`, `gate.NAME` and their kin are references and no values.\n")
	var roots []string
	for _, r := range t.Roots {
		roots = append(roots, r.Name)
	}
	w.line("| place | " + strings.Join(quoted(roots), " | ") + " |\n|---|" + strings.Repeat(":-:|", len(roots)))
	for _, p := range t.Places {
		cells := []string{p.Place}
		for _, r := range roots {
			mark := ""
			if slices.Contains(p.Reads, r) {
				mark = "✓"
			}
			cells = append(cells, mark)
		}
		w.row(cells...)
	}
	w.line("\n`each` needs a `for_each` around the place, `previous` a `sequence`, `iteration` and `last` a `repeat`, `feedback` a gate with `on_fail = \"retry\"` or the attribute of this name.\n\n| name | |\n|---|---|")
	for _, r := range t.Roots {
		w.row(code(r.Name), r.Doc)
	}
	w.members("`step.NAME`, `previous`, `result`", t.Results)
	w.members("`error`", t.Errors)
	w.members("`run`", t.Run)
	w.members("`recalled`", t.Recalled)
	w.members("Conditions of tests", t.Tests)
	w.members("Tests: members of `calls.NAME`", t.Calls)
	w.members("Tests: members of `runs.NAME`", t.Runs)
	w.members("Replies of stubs: `request`", t.Requests)
	w.line("\nStatuses: " + strings.Join(quoted(t.Statuses), ", ") + ".")
}

func (t *Table) functions(w *writer) {
	w.line("\n## Functions\n\nThey mean the same in values and in conditions.\n\n| function | | example |\n|---|---|---|")
	var aliases, predicates []Function
	for _, f := range t.Functions {
		switch {
		case f.Alias != "":
			aliases = append(aliases, f)
		case f.Asks:
			predicates = append(predicates, f)
		case f.Example == "":
			w.row(code(f.Form), f.Doc, "")
		default:
			w.row(code(f.Form), f.Doc, code(f.Example)+" is "+code(f.Result))
		}
	}
	w.line("\nOther names, as expr-lang has them:\n")
	for _, f := range aliases {
		w.line("- `" + f.Name + "` is `" + f.Alias + "`")
	}
	w.line("\nIn conditions only, with a body that is asked for every member; `#` is the member, `#index` where it stands:\n\n| predicate | |\n|---|---|")
	for _, f := range predicates {
		w.row(code(f.Form), f.Doc)
	}
}

// writer collects lines of Markdown.
type writer struct{ strings.Builder }

func (w *writer) line(s string) { w.WriteString(s + "\n") }

// row writes a row of a table; cells hold Markdown.
func (w *writer) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	w.line("| " + strings.Join(cells, " | ") + " |")
}

func (w *writer) members(of string, list []Member) {
	w.line("\n### " + of + "\n\n| attribute | type | |\n|---|---|---|")
	for _, m := range list {
		t := m.Type
		if m.Null && t != "any" {
			t += " or null"
		}
		w.row("`"+m.Name+"`", t, m.Doc)
	}
}

// byDefault is the default as it would be written, or what it is in words.
func (a *Attribute) byDefault() string {
	if strings.Contains(a.Default, " ") {
		return a.Default
	}
	return code(a.Default)
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func quoted(names []string) (out []string) {
	for _, n := range names {
		out = append(out, "`"+n+"`")
	}
	return out
}

func wordsOf(words []string) (out []string) {
	for _, w := range words {
		out = append(out, "`\""+w+"\"`")
	}
	return out
}

func list(names []string) string {
	q := quoted(names)
	if len(q) == 1 {
		return q[0]
	}
	return strings.Join(q[:len(q)-1], ", ") + " and " + q[len(q)-1]
}
