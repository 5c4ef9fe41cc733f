package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/memory/entry"
)

// memoryPage is a list of entries of the memory, or what a query found.
type memoryPage struct {
	Query, Type, Agent, Tag, Run string
	All                          bool
	Types                        []entry.Type
	Rows                         []memoryRow
	Total, Page, Pages           int
	Address                      string // of the list without the page
	By                           string
	Memory                       string // the id; "" is that of the store
	Memories                     []serve.Memory
}

// memoryRow is an entry in a list.
type memoryRow struct {
	entry.Document
	Words string // what it says in short
	Marks []string
	Score string // of a search
	Parts []scorePart
}

// scorePart is a part of a score. Width is its share of the largest score on the page, in percent.
type scorePart struct{ Name, Value, Width string }

// maxWords bounds what a list shows of an entry, in bytes.
const maxWords = 400

// searchResults is how many results a search shows.
const searchResults = 30

func (p *Pages) showMemory(_ http.ResponseWriter, r *http.Request) (any, error) {
	q := r.URL.Query()
	d := memoryPage{Query: strings.TrimSpace(q.Get("query")), Type: q.Get("type"), Agent: q.Get("agent"), Tag: q.Get("tag"), Run: q.Get("run"), All: q.Get("all") != "", Types: entry.Types, Page: 1, By: who(r)}
	memories, err := get[serve.Memories](p, r, "/memory")
	if err != nil {
		return nil, err
	}
	d.Memory, d.Memories = q.Get("memory"), memories.Memories
	which := url.Values{}
	for name, text := range map[string]string{"type": d.Type, "agent": d.Agent, "tag": d.Tag, "memory": d.Memory} { // any order: a map
		if text != "" {
			which.Set(name, text)
		}
	}
	if d.All {
		which.Set("all", "true")
	}
	if d.Query != "" {
		which.Set("query", d.Query)
		which.Set("k", number(searchResults))
		found, err := get[serve.MemoryFound](p, r, "/memory/search?"+escaped(which))
		if err != nil {
			return nil, err
		}
		for i := range found.Results {
			hit := &found.Results[i]
			row := newMemoryRow(&hit.Document)
			row.Score, row.Parts = fmt.Sprintf("%.3f", hit.Score), newParts(hit.Parts, found.Results[0].Score)
			d.Rows = append(d.Rows, row)
		}
		d.Total = len(d.Rows)
		return d, nil
	}
	if d.Run != "" {
		which.Set("run", d.Run)
	}
	d.Address = "/memory?" + which.Encode() + "&page="
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		d.Page = n
	}
	which.Set("limit", number(pageSize))
	which.Set("offset", number(min(d.Page-1, 1<<24)*pageSize))
	list, err := get[serve.MemoryEntries](p, r, "/memory/entries?"+escaped(which))
	for i := range list.Entries {
		d.Rows = append(d.Rows, newMemoryRow(&list.Entries[i]))
	}
	d.Total, d.Pages = list.Total, (list.Total+pageSize-1)/pageSize
	return d, err
}

// escaped is a query as a part of a format.
func escaped(q url.Values) string { return strings.ReplaceAll(q.Encode(), "%", "%%") }

func newMemoryRow(e *entry.Document) memoryRow {
	return memoryRow{Document: *e, Words: ui.Clean(clip(strings.Join(strings.Fields(cmp.Or(e.Lesson, e.Text, e.Observation, e.Context)), " "), maxWords)), Marks: marks(e)}
}

// clip cuts a text at so many bytes.
func clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// marks are the words for what is not usual of an entry.
func marks(e *entry.Document) (list []string) {
	for _, m := range []struct {
		is   bool
		word string
	}{{e.Pinned, "pinned"}, {e.Conflict, "contradictory"}, {e.SupersededBy != "", "superseded"}, {e.Archived, "archived"}, {e.Forgotten, "forgotten"}, {e.Reverted, "reverted"}} {
		if m.is {
			list = append(list, m.word)
		}
	}
	return list
}

// newParts lists the parts of a score, the largest first.
func newParts(parts map[string]float64, best float64) (list []scorePart) {
	names := slices.SortedFunc(maps.Keys(parts), func(a, b string) int { return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b)) })
	for _, name := range names {
		width := 100 * max(parts[name], 0) / max(best, 1e-9)
		list = append(list, scorePart{strings.ReplaceAll(name, "_", " "), fmt.Sprintf("%.3f", parts[name]), fmt.Sprintf("%.2f%%", min(width, 100))})
	}
	return list
}

// entryPage is an entry with its history.
type entryPage struct {
	serve.MemoryStory
	Marks  []string
	Fields []field
	Left   int // records that are left out
	By     string
	Open   bool   // it can be changed
	Memory string // the id; "" is that of the store
}

type field struct{ Name, Text string }

// maxRecords bounds the records of an entry on a page: the newest.
const maxRecords = 100

func (d *entryPage) title() string { return d.Entry.ID + " of the memory" }

func (p *Pages) showEntry(_ http.ResponseWriter, r *http.Request) (any, error) {
	story, err := get[serve.MemoryStory](p, r, "/memory/entry?id=%s&memory=%s", r.URL.Query().Get("id"), r.URL.Query().Get("memory"))
	if err != nil {
		return nil, err
	}
	e := &story.Entry
	d := &entryPage{MemoryStory: story, Marks: marks(e), By: who(r), Open: !e.Forgotten && !e.Reverted, Memory: r.URL.Query().Get("memory")}
	for _, f := range []field{{"Lesson", e.Lesson}, {"Text", e.Text}, {"Observation", e.Observation}, {"Context", e.Context}} {
		if f.Text != "" {
			d.Fields = append(d.Fields, f)
		}
	}
	if n := len(d.History) - maxRecords; n > 0 {
		d.Left, d.History = n, d.History[n:]
	}
	return d, nil
}

// entryPath is the address of an entry of a memory; in is the id of the memory.
func entryPath(id, in string) string {
	path := "/memory/entry?id=" + url.QueryEscape(id)
	if in != "" {
		path += "&memory=" + url.QueryEscape(in)
	}
	return path
}

// byWhom says where an entry or a change comes from.
func byWhom(s entry.Source) string { return ui.Clean(ui.ByWhom(s)) }

func (p *Pages) doMemory(w http.ResponseWriter, r *http.Request) (any, error) {
	change := r.PathValue("change")
	by, reason := strings.TrimSpace(r.PostFormValue("by")), r.PostFormValue("reason")
	ids := r.PostForm["id"]
	if by == "" {
		return nil, &serve.Failure{Status: http.StatusBadRequest, Code: "by", Message: "Say who you are: the history of the entry names you."}
	}
	var body any = serve.MemoryChange{IDs: ids, By: by, Reason: reason}
	switch change {
	case "revert":
		body = serve.MemoryRevert{IDs: ids, Run: r.PostForm.Get("run"), By: by, Reason: reason}
	case "supersede":
		body = serve.MemorySupersede{IDs: ids, Text: r.PostForm.Get("text"), Lesson: r.PostForm.Get("lesson"), Observation: r.PostForm.Get("observation"), Context: r.PostForm.Get("context"), By: by}
	}
	in := r.PostForm.Get("memory")
	v, err := p.server.Post(r.Context(), "/api/v1/memory/"+url.PathEscape(change)+"?memory="+url.QueryEscape(in), r.RemoteAddr, body)
	if err != nil {
		return nil, err
	}
	remember(w, by)
	changed, _ := v.(serve.MemoryChanged)
	if len(changed.IDs) != 1 {
		return goTo(w, r, "/memory?memory="+url.QueryEscape(in), "m-"+change)
	}
	return goTo(w, r, entryPath(changed.IDs[0], in), "m-"+change)
}
