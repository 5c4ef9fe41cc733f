package backlog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// finish resolves what items need, and gives each an id.
func (m *markdown) finish() {
	resolve(m.drafts)
	number(m.drafts, m.d.opts.Path)
	for _, d := range m.drafts {
		if d.parent >= 0 {
			d.item.Parent = m.drafts[d.parent].item.ID
		}
		m.d.Items = append(m.d.Items, d.item)
		m.d.marks = append(m.d.marks, d.mark)
	}
	titles := map[string]string{}
	for _, it := range m.d.Items {
		if key := strings.ToLower(it.Title); titles[key] == "" {
			titles[key] = it.ID
		}
	}
	for i := range m.d.Items {
		it := &m.d.Items[i]
		for _, n := range m.drafts[i].needs {
			id := titles[strings.ToLower(n.text)]
			if id == "" {
				id = n.text
			}
			if id != it.ID {
				it.Needs = append(it.Needs, id)
			}
		}
	}
}

// resolve keeps those needs that are the title of an item, and takes them out of the title that they stand in.
func resolve(drafts []draft) {
	titles := map[string]bool{}
	for i := range drafts {
		titles[strings.ToLower(drafts[i].item.Title)] = true
	}
	for i := range drafts {
		d := &drafts[i]
		kept := d.needs[:0]
		for _, n := range d.needs {
			switch before, found := strings.CutSuffix(d.item.Title, n.phrase); {
			case n.phrase == "":
				kept = append(kept, n)
			case found && titles[strings.ToLower(n.text)] && tidy(before) != "":
				d.item.Title = tidy(before)
				kept = append(kept, n)
			}
		}
		d.needs = kept
	}
}

// number gives an id to each item whose file gives none. Items with one path of headings, parents and title get a number behind it.
func number(drafts []draft, path string) {
	used := map[string]int{}
	for i := range drafts {
		it := &drafts[i].item
		if it.ID == "" {
			sum := sha256.Sum256([]byte(path + "\x00" + drafts[i].path))
			it.ID = hex.EncodeToString(sum[:6])
		}
		used[it.ID]++
		for n := used[it.ID]; n > 1; n++ {
			if id := fmt.Sprintf("%s~%d", it.ID, n); used[id] == 0 {
				used[it.ID], used[id] = n, 1
				it.ID = id
				break
			}
		}
	}
}
