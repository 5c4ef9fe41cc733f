package entry

import "time"

// Document is an entry as programs get it: what was written, and what became of it.
type Document struct {
	Entry
	Count        int       `json:"count"`
	LastSeen     time.Time `json:"last_seen"`
	Uses         int       `json:"uses"`
	Pinned       bool      `json:"pinned"`
	Archived     bool      `json:"archived,omitempty"`
	Forgotten    bool      `json:"forgotten,omitempty"`
	Reverted     bool      `json:"reverted,omitempty"`
	SupersededBy string    `json:"superseded_by,omitempty"`
	Repeats      []string  `json:"repeats,omitempty"`
}

// Document describes an entry for programs.
func (i *Item) Document() Document {
	return Document{Entry: i.Entry, Count: i.Count, LastSeen: i.Last, Uses: i.Uses, Pinned: i.Pinned, Archived: i.Archived,
		Forgotten: i.Forgotten, Reverted: i.Reverted, SupersededBy: i.SupersededBy, Repeats: i.Repeats}
}
