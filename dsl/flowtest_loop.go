package dsl

import (
	"fmt"
	"maps"
	pathpkg "path"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// heldType is an item as a test writes it.
var heldType = func() value.Type {
	optional := func(t value.Type) value.Type {
		t.Optional = true
		return t
	}
	words := optional(value.List(value.StringType))
	return value.Object(map[string]value.Type{
		"id": value.StringType, "title": optional(value.StringType), "body": optional(value.StringType), "labels": words, "priority": optional(value.IntType),
		"needs": words, "capabilities": words, "assignee": optional(value.StringType), "url": optional(value.StringType), "created_at": optional(value.StringType),
		"data": optional(value.AnyType), "closed": optional(value.BoolType), "after": optional(value.StringType),
	})
}()

// completeLoop gives a test of loops the items of their sources. Loops whose sources have the same name ask the same list.
func (p *Program) completeLoop(t *check.Test) (list diag.List) {
	var all []ir.Source
	for _, name := range t.Loops {
		all = append(all, p.IR.Loop(name).Sources...)
	}
	h := holding{t: t, sources: map[string]bool{}, files: map[string]bool{}, ids: map[string]bool{}}
	for i := range all {
		if s := &all[i]; s.Kind != ir.SourceImprovement {
			h.sources[s.Name] = true
			h.files[s.Name] = s.Kind == ir.SourceFile
			if h.first == "" || h.first == string(ir.SourceDispatch) {
				h.first = s.Name
			}
		}
	}
	for i := range t.Moments {
		if m := &t.Moments[i]; m.Kind == ir.DispatchMoment {
			h.ids[m.Name] = true
		}
	}
	switch held := t.Held.(type) {
	case nil:
	case []any:
		h.hold(h.first, held)
	case map[string]any:
		for _, source := range value.Keys(held) {
			if text, is := held[source].(string); is && h.files[source] {
				if pathpkg.Ext(text) != "" && !strings.ContainsAny(text, " \n") {
					h.refuse(fmt.Sprintf("Source %s has the name of a file instead of its text", source), fmt.Sprintf("Write  items = { %s = file(%q) }.", source, text))
					continue
				}
				if t.Test.Lists == nil {
					t.Test.Lists = map[string]string{}
				}
				t.Test.Lists[source] = text
				continue
			}
			items, is := held[source].([]any)
			if !is {
				detail := "Write  items = { SOURCE = [{ id = \"ID\", title = \"TEXT\" }] }."
				if h.files[source] {
					detail = "Write  items = { SOURCE = [{ id = \"ID\", title = \"TEXT\" }] }, or give the source the text of a file:  items = { SOURCE = file(\"PATH\") }."
				}
				h.refuse(fmt.Sprintf("The items of source %.60q are not a list", source), detail)
				continue
			}
			h.hold(source, items)
		}
	default:
		h.refuse("items must be an object or a list", "Write  items = { SOURCE = [{ id = \"ID\", title = \"TEXT\" }] }, or the list alone where the loop has one source beside dispatch.")
	}
	for _, s := range t.Sources {
		h.stub(all, s)
	}
	for _, c := range t.Closed {
		if h.ids[c.Name] || t.Test.Lists != nil || len(t.Sources) > 0 { // whoever reads the list knows its items
			continue
		}
		known := slices.Sorted(maps.Keys(h.ids))
		d := diag.Diagnostic{Code: "F0294", Subject: c.At, Context: fmt.Sprintf("test %q", t.Name), Summary: fmt.Sprintf("The test has no item %q", c.Name), Detail: "It has none: items and dispatch blocks name them."}
		if near := diag.Nearest(c.Name, known); near != "" {
			d.Detail, d.Edit = fmt.Sprintf("Did you mean %q?", near), &diag.Edit{Range: c.At, Text: fmt.Sprintf("%q", near)}
		} else if len(known) > 0 {
			d.Detail = fmt.Sprintf("It has %s.", strings.Join(known[:min(len(known), 10)], ", "))
		}
		h.list = append(h.list, d)
	}
	return h.list
}

// holding reads the items of a test.
type holding struct {
	t       *check.Test
	sources map[string]bool // that have items
	files   map[string]bool // those that read files
	first   string          // whose items a list is
	ids     map[string]bool // of all items
	list    diag.List
}

func (h *holding) refuse(what, detail string) {
	h.list = append(h.list, diag.Diagnostic{Code: "F0434", Subject: h.t.Items.Src.Span(), Context: fmt.Sprintf("test %q", h.t.Name), Summary: what, Detail: detail})
}

// stub checks that a source with replies asks for its list.
func (h *holding) stub(all []ir.Source, named check.Named) {
	d := diag.Diagnostic{Code: "F0294", Subject: named.At, Context: fmt.Sprintf("test %q", h.t.Name)}
	var known []string
	for i := range all {
		s := &all[i]
		own := s.Kind == ir.SourceDispatch || s.Kind == ir.SourceImprovement
		switch {
		case s.Name != named.Name:
		case own:
			d.Code, d.Summary, d.Detail = "F0298", fmt.Sprintf("Source %q needs no stub", named.Name), "It starts nothing, so a test does the same as a run."
			h.list = append(h.list, d)
			return
		default:
			return
		}
		if !own && !slices.Contains(known, s.Name) {
			known = append(known, s.Name)
		}
	}
	d.Summary = fmt.Sprintf("The loop has no source %q", named.Name)
	if near := diag.Nearest(named.Name, known); near != "" {
		d.Detail, d.Edit = fmt.Sprintf("Did you mean %q?", near), &diag.Edit{Range: named.At, Text: fmt.Sprintf("%q", near)}
	} else if d.Detail = "None of its sources asks for a list."; len(known) > 0 {
		d.Detail = fmt.Sprintf("It has %s.", strings.Join(known, ", "))
	}
	h.list = append(h.list, d)
}

// hold reads the items of one source.
func (h *holding) hold(source string, items []any) {
	if !h.sources[source] {
		known := slices.Sorted(maps.Keys(h.sources))
		detail := fmt.Sprintf("It has %s.", strings.Join(known, ", "))
		if near := diag.Nearest(source, known); near != "" {
			detail = fmt.Sprintf("Did you mean %q?", near)
		}
		if len(known) == 0 {
			detail = "Its sources hold no items."
		}
		h.refuse(fmt.Sprintf("The loop has no source %.60q with items", source), detail)
		return
	}
	seen := map[string]bool{}
	for i, v := range items {
		where := fmt.Sprintf("Item %d of source %s", i+1, source)
		written, _ := v.(map[string]any)
		for _, name := range value.Keys(written) {
			if _, is := heldType.Attrs[name]; is {
				continue
			}
			known := heldType.Names()
			detail := fmt.Sprintf("It has %s.", strings.Join(known, ", "))
			if near := diag.Nearest(name, known); near != "" {
				detail = fmt.Sprintf("Did you mean %q?", near)
			}
			h.refuse(fmt.Sprintf("%s cannot have %.60q", where, name), detail)
		}
		made, err := value.Convert(v, heldType)
		if err != nil {
			h.refuse(where+" cannot be read", strings.ToUpper(err.Error()[:1])+err.Error()[1:]+".")
			continue
		}
		item := made.(map[string]any)
		id := item["id"].(string)
		if id == "" || seen[id] {
			h.refuse(fmt.Sprintf("%s has the id %.60q", where, id), "Each item of a source has an id of its own, which is not empty.")
			continue
		}
		seen[id], h.ids[id] = true, true
		held := ir.TestItem{Source: source, Item: map[string]value.Value{}}
		if text, is := item["after"].(string); is && !value.NoDuration(text) {
			if held.After, err = value.ParseDuration(text); err != nil {
				h.refuse(where+fmt.Sprintf(": after cannot be %.40q", text), fmt.Sprintf("A duration is more than zero and at most ten years, %s.", value.DurationForms))
			}
		}
		if text, is := item["created_at"].(string); is {
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				h.refuse(where+fmt.Sprintf(": created_at cannot be %.40q", text), "It is a moment as in RFC 3339:  created_at = \"2026-01-05T08:00:00Z\".")
			}
		}
		for name, v := range item { // any order: it fills a map
			if v != nil && name != "after" {
				held.Item[name] = v
			}
		}
		if held.Item["title"] == nil || held.Item["title"] == "" {
			held.Item["title"] = id
		}
		if source == string(ir.SourceDispatch) {
			h.t.Moments = append(h.t.Moments, ir.Moment{Kind: ir.DispatchMoment, After: held.After, Name: id, Data: held.Item, By: "test", At: h.t.At})
			continue
		}
		h.t.Test.Items = append(h.t.Test.Items, held)
	}
}
