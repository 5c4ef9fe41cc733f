package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

var memoryNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func memoryItems() []entry.Item {
	failure := entry.Item{Entry: entry.Entry{ID: "M-3f2a", Scope: "agent:backend", Agent: "backend", Type: entry.Failure,
		Context: "build of the\nslow runner", Observation: "timeout", Lesson: "Raise the client's timeout\x1b[31m before the retry.", Tags: []string{"api", "timeout"},
		Importance: 0.7, Session: "s1", CreatedAt: memoryNow.Add(-3 * 24 * time.Hour),
		By: entry.Source{Run: "r1", Step: "build", Source: "result", Author: "flowrun", Trust: entry.ByRule}},
		Count: 3, Last: memoryNow.Add(-time.Hour), Uses: 1, Pinned: true, Repeats: []string{"M-9"}}
	return []entry.Item{failure, {Entry: entry.Entry{ID: "D1:3", Text: "Mel plays the 日本 flute.", CreatedAt: time.Date(2023, 5, 8, 0, 0, 0, 0, time.UTC)},
		Count: 1, SupersededBy: "D2:1"}}
}

func screen(columns int) (*Term, *bytes.Buffer) {
	out := new(bytes.Buffer)
	t := NewTerm(out, "never", func(string) string { return "" })
	if columns > 0 {
		t.Live, t.size = true, func() (int, int) { return columns, 24 }
	}
	return t, out
}

// Entries fit the screen, whatever its width; a pipe gets them whole. Nothing of a text reaches the terminal as a command.
func TestMemoriesFit(t *testing.T) {
	found := []Found{{Item: memoryItems()[0], Score: 0.73141592, Parts: Parts{{"words", 0.5}, {"word_vectors", 0.2314}, {"uses", 0}}}, {Item: memoryItems()[1], Score: 0.2}}
	for _, columns := range []int{20, 40, 79, 80, 200} {
		term, out := screen(columns)
		Memories(term, memoryItems(), memoryNow, false)
		FoundText(term, found, memoryNow)
		for _, line := range strings.Split(out.String(), "\n") {
			if Cells(line) > columns {
				t.Errorf("%d columns: %q has %d", columns, line, Cells(line))
			}
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q", out.String())
		}
	}
	term, out := screen(0)
	Memories(term, memoryItems(), memoryNow, false)
	FoundText(term, found, memoryNow)
	want := `ID      AGE         TYPE     AGENT    TEXT
M-3f2a  3d          failure  backend  [pinned] Raise the client's timeout\x1b[31m before the retry.
D1:3    2023-05-08  note     -        [superseded by D2:1] Mel plays the 日本 flute.
0.731  M-3f2a  failure of backend, 3d ago, seen 3 times, pinned
       Raise the client's timeout\x1b[31m before the retry.
       timeout
       build of the slow runner
       #api #timeout
       words 0.500, word vectors 0.231
0.200  D1:3  note, 2023-05-08, superseded by D2:1
       Mel plays the 日本 flute.
`
	if out.String() != want {
		t.Errorf("\n%s", out)
	}
}

// What programs get is named, rounded, and has all of an entry where one query was asked.
func TestMemoryJSON(t *testing.T) {
	found := []Found{{Item: memoryItems()[0], Score: 0.73141592, Parts: Parts{{"words", 0.5}, {"recency", 0.0000001}}}}
	term, out := screen(0)
	_ = WriteJSON(term, Answered("0", found[:0]))
	_ = WriteJSON(term, Answered("1", found))
	_ = WriteJSON(term, Answered("2", []Found{{Item: found[0].Item, Score: 1}}))
	want := `{"id":"0","results":[]}
{"id":"1","results":[{"id":"M-3f2a","score":0.731416,"parts":{"words":0.5,"recency":0}}]}
{"id":"2","results":[{"id":"M-3f2a","score":1}]}
`
	if out.String() != want {
		t.Errorf("\n%s", out)
	}
	out.Reset()
	FoundJSON(term, "q", found)
	var one struct {
		Query   string
		Results []struct {
			ID, Lesson string
			Score      float64
			Count      int
			Pinned     bool
		}
	}
	if err := json.Unmarshal(out.Bytes(), &one); err != nil || one.Query != "q" || one.Results[0].ID != "M-3f2a" || one.Results[0].Score != 0.731416 ||
		one.Results[0].Count != 3 || !one.Results[0].Pinned || one.Results[0].Lesson == "" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMemoryIsShown(t *testing.T) {
	term, out := screen(0)
	item := memoryItems()[0]
	Memory(term, &item, []entry.Record{
		{Seq: 7, At: item.CreatedAt, Op: entry.Put, By: item.By},
		{Seq: 9, At: memoryNow, Op: entry.Promote, Scope: entry.OfGroup("g"), By: entry.Source{Author: "user:ann", Source: "cli", Trust: entry.ByPerson}, Reason: "good\nfor all"},
		{Seq: 10, At: memoryNow, Op: entry.Supersede, IDs: []string{"M-1", "M-2"}, Other: "M-3f2a"},
		{Seq: 11, At: memoryNow, Op: entry.Supersede, IDs: []string{"M-3f2a"}, Other: "M-4"},
	}, memoryNow, false)
	want := `M-3f2a  failure of backend, 3d ago, seen 3 times, pinned
  lesson       Raise the client's timeout\x1b[31m before the retry.
  observation  timeout
  context      build of the
               slow runner
  tags         api, timeout
  importance   0.7
  created      2026-11-18T12:00:00Z
  last seen    2026-11-21T11:00:00Z
  recalled     1 time
  seen by      agent backend
  session      s1
  written by   flowrun, in run r1, step build, from result, by a rule
  near         M-9
  history
    2026-11-18T12:00:00Z put (flowrun, in run r1, step build, from result, by a rule)
    2026-11-21T12:00:00Z promote: seen by who names the group g (ann, from cli): good for all
    2026-11-21T12:00:00Z supersede of M-1, M-2 by it (not trusted)
    2026-11-21T12:00:00Z supersede by M-4 (not trusted)
`
	if out.String() != want {
		t.Errorf("\n%s", out)
	}
}

// What is recalled into every task has a record for each: its first and its last are shown. On a screen nothing is cut off.
func TestLongHistoryIsShownInShort(t *testing.T) {
	item := memoryItems()[0]
	for extra, want := range map[int]int{0: FirstRecords + LastRecords, 1: FirstRecords + LastRecords + 1, 1000: FirstRecords + LastRecords + 1} {
		history := make([]entry.Record, FirstRecords+LastRecords+extra)
		for i := range history {
			history[i] = entry.Record{At: memoryNow, Op: entry.Use, By: entry.Source{Run: fmt.Sprint("r", i)}}
		}
		term, out := screen(0)
		Memory(term, &item, history, memoryNow, false)
		_, told, _ := strings.Cut(out.String(), "history\n")
		if n := strings.Count(told, "\n"); n != want || !strings.Contains(told, fmt.Sprintf("run r%d,", len(history)-1)) {
			t.Errorf("%d records take %d lines:\n%s", len(history), n, told)
		}
		if more := fmt.Sprintf("… %s more", Count(extra, "record")); strings.Contains(told, more) != (extra > 0) {
			t.Errorf("%q of %d records:\n%s", more, len(history), told)
		}
	}
	for _, columns := range []int{20, 40} {
		term, out := screen(columns)
		long := item
		long.ID = strings.Repeat("M", columns+5)
		Memory(term, &item, make([]entry.Record, FirstRecords+LastRecords+1000), memoryNow, false)
		Memory(term, &long, nil, memoryNow, false)
		for line := range strings.SplitSeq(out.String(), "\n") {
			if Cells(line) > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		if !strings.Contains(out.String(), "pinned") {
			t.Errorf("%d columns: the title is cut:\n%s", columns, out)
		}
	}
	for _, columns := range []int{40, 80} {
		term, out := screen(columns)
		Memory(term, &item, []entry.Record{{At: memoryNow, Op: entry.Put, By: item.By, Reason: strings.Repeat("why ", 50)}}, memoryNow, false)
		MemoryCounts(term, MemoryStats{Scopes: []MemoryCount{{"agent:backend", 1}, {"agent:frontend", 2}, {"group:everyone", 3}, {"", 4}}}, false)
		for line := range strings.SplitSeq(out.String(), "\n") {
			if Cells(line) > columns {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		if n := strings.Count(out.String(), "why"); n != 50 {
			t.Errorf("%d columns: %d of 50 words are shown", columns, n)
		}
	}
}

// A memory of many runs and agents has counts that can be read.
func TestCountsAreBounded(t *testing.T) {
	var s MemoryStats
	for i := range 100 {
		s.Scopes = append(s.Scopes, MemoryCount{fmt.Sprintf("run:%03d", i), 2})
		s.Agents = append(s.Agents, MemoryCount{fmt.Sprintf("a%03d", i), i + 1})
	}
	s.Scopes = append(s.Scopes, MemoryCount{string(entry.Shared), 7})
	term, out := screen(0)
	MemoryCounts(term, s, false)
	for _, want := range []string{"seen by   everybody 7, one of 100 runs 200\n", "agents    a099 100, a098 99,", "a080 81, and 80 more\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestFolded(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"one two three", 0, "one two three"}, {"one two three", 13, "one two three"}, {"one two three", 12, "one two|three"},
		{"one two three", 7, "one two|three"}, {"one two three four five six", 6, "one|two|three…"}, {"unbreakable words", 4, "unbr|eaka|ble…"},
		{"日本語の文", 4, "日本|語の|文"}, {"", 3, ""}, {"ab", 1, "a|b"},
	} {
		if have := strings.Join(folded(c.line, c.width, 3), "|"); have != c.want {
			t.Errorf("%q at %d: %q, want %q", c.line, c.width, have, c.want)
		}
	}
}

// A list shows the beginning of a text, however long that is.
func TestLongTextsAreListedInShort(t *testing.T) {
	term, out := screen(0)
	Memories(term, []entry.Item{{Entry: entry.Entry{ID: "long", Text: strings.Repeat("word ", 1000)}}}, memoryNow, false)
	if n := out.Len(); n > ListedCells+100 || n < ListedCells {
		t.Errorf("%d bytes: %s", n, out)
	}
}

// A list shows of a pattern what it says, and its count in short.
func TestPatternsAreListedByTheirLesson(t *testing.T) {
	for text, want := range map[string]string{
		"Seen 3 times (2 failures, 1 success), last 2026-11-21, contradicting each other: Do: a. But: b.": "[contradictory, seen 3 times] Do: a. But: b.",
		"Seen 1 time, last 2026-11-21: Do it.": "[contradictory, seen 1 time] Do it.",
		"In other words: do it.":               "[contradictory] In other words: do it.",
	} {
		if have := inShort(&entry.Item{Entry: entry.Entry{Type: entry.Pattern, Text: text, Conflict: true}}); have != want {
			t.Errorf("%q is listed as %q, want %q", text, have, want)
		}
	}
	note := entry.Item{Entry: entry.Entry{Text: "Seen from here: nothing."}}
	if have := inShort(&note); have != note.Text {
		t.Errorf("%q", have)
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "2026-11-21", 0: "just now", time.Minute - 1: "just now", time.Minute: "1m ago", time.Hour: "1h ago", 48*time.Hour - 1: "47h ago",
		48 * time.Hour: "2d ago", 60*24*time.Hour - 1: "59d ago", 60 * 24 * time.Hour: "2026-09-22",
	} {
		if have := Ago(memoryNow.Add(-d), memoryNow); have != want {
			t.Errorf("%s: %s, want %s", d, have, want)
		}
	}
}
