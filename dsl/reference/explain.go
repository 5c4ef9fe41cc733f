package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
)

// About explains a word in Markdown: a topic ("protocol"), a code, a block ("step"), an attribute or block of a block
// ("step.when"), a function, an attribute that several blocks have, or a word of another tool. Where it knows nothing, ok is
// false and near is the nearest word that it knows, or "".
func About(word string) (text, near string, ok bool) {
	if p, is := PageOf(strings.ToUpper(word)); is {
		return p.Text, "", true
	}
	if text, err := files.ReadFile("topics/" + word + ".md"); err == nil {
		return string(text), "", true
	}
	if text, is := howTo(word); is {
		return text, "", true
	}
	t := table()
	block, attr, dotted := strings.Cut(word, ".")
	if last := strings.LastIndexByte(word, '.'); dotted && t.block(word[:last]) != nil { // test.retry.from
		block, attr = word[:last], word[last+1:]
	}
	if b := t.block(block); b != nil && dotted {
		if text := t.within(b, attr); text != "" {
			return text, "", true
		}
		if text := member("step.NAME", attr, t.Results); block == "step" && text != "" {
			return text, "", true
		}
		return "", prefixed(block, diag.Nearest(attr, b.names())), false
	}
	if list := map[string][]Member{"error": t.Errors, "run": t.Run, "recalled": t.Recalled, "request": t.Requests, "calls": t.Calls, "runs": t.Runs}[block]; dotted && list != nil {
		text := member(block, attr, list)
		return text, "", text != ""
	}
	var parts []string
	if b := t.block(word); b != nil {
		parts = append(parts, b.markdown("# "))
	}
	for _, f := range t.Functions {
		if f.Name == word {
			parts = append(parts, f.markdown())
		}
	}
	if text := t.attributes(word); text != "" {
		parts = append(parts, text)
	}
	for _, text := range []string{member("", word, t.Roots), member("results", word, t.Results), member("tests", word, t.Tests), t.planned(word)} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if slices.Contains(typeWords, word) {
		text, _ := files.ReadFile("topics/types.md") // embedded: there
		parts = append(parts, string(text))
	}
	switch word {
	case "names":
		parts = append(parts, Language().namesPage())
	case "limits":
		w := &writer{}
		t.limits(w)
		parts = append(parts, strings.TrimPrefix(w.String(), "\n#"))
	}
	if text, err := files.ReadFile("words/" + word + ".md"); err == nil {
		parts = append(parts, string(text))
	}
	if absent := schema.Absent[word]; absent != "" && len(parts) == 0 && schema.Meant[word] == "" {
		parts = append(parts, fmt.Sprintf("# %s\n\n%s\n", word, strings.Replace(absent, "@", `"NAME"`, 1)))
	}
	switch meant := schema.Meant[word]; {
	case meant != "" && t.block(word) != nil: // the block does what other tools mean, or explains itself
	case meant != "" && len(parts) > 0:
		parts = append([]string{fmt.Sprintf("Users of other tools: for their `%s`, write  %s\n", word, meant)}, parts...)
	case meant != "":
		parts = append(parts, fmt.Sprintf("# %s\n\nflowrun has no `%s`; write  %s\n", word, word, meant))
		if text := t.page(firstWord().FindString(meant)); text != "" {
			parts = append(parts, text)
		}
	}
	values := t.valued(word)
	if t.block(word) != nil && len(values) > 0 { // the reader asks for the block
		parts = append(parts, fmt.Sprintf("\n%s is also a value: of %s.\n", code(word), list(values)))
		values = nil
	}
	for _, name := range values {
		parts = append(parts, fmt.Sprintf("# %s\n\nA value of `%s`:  %s = %q\n", word, name, name, word), t.attributes(name))
	}
	if b := t.block("test." + word); b != nil && len(parts) == 0 { // start, which stands in tests alone
		parts = append(parts, b.markdown("# "))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n"), "", true
	}
	if page := answers(word); page != "" {
		return About(page)
	}
	return "", diag.Nearest(word, t.words()), false
}

var firstWord = lazyregexp.New(`^[a-z_]+`)

// page explains a word of the language: a block, or an attribute of all blocks that have it.
func (t *Table) page(word string) string {
	if b := t.block(word); b != nil {
		return b.markdown("# ")
	}
	return t.attributes(word)
}

// valued returns the attributes that have a word as a value, such as on_error for continue.
func (t *Table) valued(word string) (names []string) {
	for _, b := range t.Blocks {
		for _, a := range b.Attributes {
			if slices.Contains(a.Words, word) && !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	return names
}

// planned explains words of attributes and names that are not in this release.
func (t *Table) planned(word string) string {
	w := &writer{}
	for _, p := range t.Planned {
		if attr, isWord := strings.CutSuffix(p.Name, "."+word); isWord && p.Kind == "word" {
			w.line("# " + word + ", of " + attr + planned + "\n\n" + prose(p.Doc) + "\n\nUntil then: " + prose(p.Instead))
		} else if of, is := p.ofTests(); is && (of == word || p.Name == word) || p.Kind == "name" && p.Name == word {
			w.line("# " + word + planned + "\n\n" + prose(p.Doc) + "\n\nUntil then: " + prose(p.Instead))
		}
	}
	return w.String()
}

// ofTests is the name of something planned that stands in test files, and not in the table of attributes.
func (p *Planned) ofTests() (name string, is bool) {
	if name, is = strings.CutPrefix(p.Name, "reply."); is {
		return name, true
	}
	name, is = strings.CutPrefix(p.Name, "test.")
	return name, is && p.Kind != "attribute"
}

// member explains an attribute of what can be read, or "".
func member(of, name string, list []Member) string {
	for _, m := range list {
		if m.Name != name {
			continue
		}
		title := name
		switch {
		case of == "results":
			title += ", of a result"
		case of == "tests":
			title += ", in a test"
		case of != "":
			title = of + "." + name
		}
		return "# " + title + "\n\n" + prose(m.Doc) + "\n"
	}
	return ""
}

// namesPage explains names: what each means, and where it is available.
func (t *Table) namesPage() string {
	w := &writer{}
	w.line("# Names\n\nAn expression reads values by names. Which names are available depends on the place. `agent.NAME`, `gate.NAME` and the like are references, not values.\n\n| name | meaning |\n|---|---|")
	for _, r := range t.Roots {
		w.row(code(r.Name), prose(r.Doc))
	}
	w.line("\n| place | names |\n|---|---|")
	for _, p := range t.Places {
		if len(p.Reads) > 0 {
			w.row(p.Place, strings.Join(quoted(p.Reads), ", "))
		}
	}
	w.members("Members of a result, such as step.NAME", t.Results)
	w.members("Members of error", t.Errors)
	w.members("Members of run", t.Run)
	w.line("\nNames of tests: `flowrun explain test`, and the page of the language that `flowrun schema` prints.")
	return w.String()
}

// typeWords are the words of types that are not explained as functions.
var typeWords = []string{"object", "list", "set", "map", "tuple", "string", "number", "bool", "optional"}

func prefixed(block, name string) string {
	if name == "" {
		return ""
	}
	return block + "." + name
}

func (t *Table) block(kind string) *Block {
	for i := range t.Blocks {
		if t.Blocks[i].Kind == kind {
			return &t.Blocks[i]
		}
	}
	return nil
}

// names are what may stand in a block.
func (b *Block) names() []string {
	names := slices.Clone(b.Blocks)
	for _, a := range b.Attributes {
		names = append(names, a.Name)
	}
	return names
}

// within explains an attribute or a block inside a block.
func (t *Table) within(b *Block, name string) string {
	for _, a := range b.Attributes {
		if a.Name == name {
			return a.markdown(b.Kind+"."+name) + example(name, t.alike(b, &a))
		}
	}
	if slices.Contains(b.Blocks, name) {
		if own := t.block(b.Kind + "." + name); own != nil {
			return own.markdown("# ")
		}
		return t.block(name).markdown("# ")
	}
	return ""
}

func (a *Attribute) markdown(title string) string {
	w := &writer{}
	if a.Later {
		w.line("# " + title + planned + "\n\n" + prose(a.Doc) + "\n\nUntil then: " + prose(a.Instead))
		return w.String()
	}
	w.line("# " + title + "\n\n" + prose(a.Doc))
	w.line("\nType: " + a.takes() + ".")
	if a.Default != "" {
		w.line("\nDefault: " + a.byDefault() + ".")
	}
	when := "The value must be a literal: flowrun reads it with the file."
	switch {
	case a.Kind == "condition" || a.Kind == "conditions" || a.Kind == "replies":
		when = "flowrun checks the types with the file, and evaluates the condition during the run."
	case a.Computed:
		when = "The attribute can be an expression. flowrun evaluates it when the node starts."
	}
	w.line("\n" + when)
	if len(a.Members) > 0 {
		w.line("\nMembers:\n\n" + a.membersTable())
	}
	return w.String()
}

func (f *Function) markdown() string {
	w := &writer{}
	w.line("# " + f.Form + "\n\n" + prose(f.Doc))
	if f.Alias != "" {
		w.line("\nIt is an alias of " + code(f.Alias) + ".")
	}
	if f.Example != "" {
		w.line("\n" + code(f.Example) + " is " + code(f.Result) + ".")
	}
	if len(f.Takes) > 0 {
		w.line("\nArguments: " + strings.Join(f.Takes, ", ") + ".")
	}
	return w.String()
}

// body explains an attribute in every block that has it with the same words.
func (a *Attribute) body() string {
	_, body, _ := strings.Cut(a.markdown(a.Name), "\n\n")
	return body
}

// alike are the blocks that have an attribute with the same words: b first, then all.
func (t *Table) alike(b *Block, a *Attribute) []string {
	kinds := []string{b.Kind}
	for _, other := range t.Blocks {
		for _, same := range other.Attributes {
			if same.Name == a.Name && same.body() == a.body() {
				kinds = append(kinds, other.Kind)
			}
		}
	}
	return kinds
}

// attributes explains an attribute for all blocks that have it; blocks with the same words share a part.
func (t *Table) attributes(name string) string {
	var order []string
	of, mark := map[string][]string{}, map[string]string{}
	for _, b := range t.Blocks {
		for _, a := range b.Attributes {
			if a.Name == name {
				body := a.body()
				if of[body] == nil {
					order = append(order, body)
				}
				of[body] = append(of[body], b.Kind)
				if a.Later {
					mark[body] = planned
				}
			}
		}
	}
	w := &writer{}
	for _, body := range order {
		w.line("# " + name + ", in " + strings.Join(of[body], ", ") + mark[body] + "\n\n" + strings.TrimSuffix(body, "\n") + "\n" + example(name, of[body]))
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// words are all that About knows but attributes of blocks.
func (t *Table) words() (out []string) {
	for _, b := range t.Blocks {
		out = append(out, b.Kind)
		for _, a := range b.Attributes {
			out = append(out, a.Name)
		}
	}
	for _, f := range t.Functions {
		out = append(out, f.Name)
	}
	for _, m := range append(slices.Clone(t.Roots), t.Results...) {
		out = append(out, m.Name)
	}
	for _, p := range t.Planned {
		out = append(out, p.Name[strings.LastIndexByte(p.Name, '.')+1:])
	}
	return slices.Concat(out, schema.OtherTools, Topics(), howTos(), Codes())
}

// Words are what a command line can offer to be explained, each with what there is to say of it in short behind a tab, or nothing:
// topics, blocks, functions, words of other tools and codes.
func Words() (out []string) {
	t := table()
	out = Topics()
	for _, b := range t.Blocks {
		if b.Never {
			continue // a word of other tools
		}
		if b.Later {
			out = append(out, b.Kind+"\tplanned, not in this release")
		} else if !slices.Contains(out, b.Kind) {
			out = append(out, b.Kind)
		}
	}
	for _, f := range t.Functions {
		out = append(out, f.Name)
	}
	for _, word := range schema.OtherTools {
		out = append(out, word+"\ta word of other tools")
	}
	return slices.Concat(out, howTos(), Codes())
}

// Blocks are the kinds of blocks of this release, in order of the alphabet.
func Blocks() (out []string) {
	for _, b := range table().Blocks {
		if !b.Never && !b.Later && !strings.Contains(b.Kind, ".") {
			out = append(out, b.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Topics are the words that have a page of their own.
func Topics() (out []string) {
	out = []string{"howto", "limits", "names"} // made from tables
	list, _ := files.ReadDir("topics")         // embedded: there
	for _, f := range list {
		out = append(out, strings.TrimSuffix(f.Name(), ".md"))
	}
	slices.Sort(out)
	return out
}
