package window_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/memory/text"
	"github.com/flowrun/flowrun/memory/window"
)

var histories = flag.Int("histories", 1000, "random histories to fit")

// estimate is what a result costs, counted here from its parts.
func estimate(f window.Fitted) int {
	sum := text.Tokens(f.Soul) + text.Tokens(f.System)
	for _, m := range slices.Concat(f.Pinned, f.Messages) {
		sum += window.PerMessage + text.Tokens(m.Text)
	}
	if f.Summary != nil {
		sum += window.PerMessage + text.Tokens(f.Summary.Text())
	}
	return sum
}

// TestHistories fits random histories as an agent would: again and again while messages come, under budgets that are too small,
// just right and ample. Run with -histories 10000 for the figure of the documentation.
func TestHistories(t *testing.T) {
	var fits, summaries, chained, cuts, refused int
	for seed := range uint64(*histories) {
		r := rand.New(rand.NewPCG(seed, 7))
		c, o := content(r)
		var had *window.Summary
		all := c.Messages
		for n := 0; n <= len(all); n += 1 + r.IntN(12) {
			c.Messages, c.Summary = slices.Clone(all[:n]), had
			f, err := window.Fit(c, o)
			fits++
			if err != nil {
				refused++
				checkRefused(t, seed, c, o, err)
				continue
			}
			check(t, seed, c, o, f)
			if again, err := window.Fit(c, o); err != nil || !cmp.Equal(f, again) {
				t.Fatalf("seed %d: fitted twice, it differs: %v\n%s", seed, err, cmp.Diff(f, again))
			}
			cuts += len(f.Cut)
			if f.New {
				summaries++
				if had != nil {
					chained++
				}
				had = f.Summary
			}
		}
	}
	t.Logf("%d histories, fitted %d times: %d summaries, %d of them on others, %d messages cut, %d refused as too large",
		*histories, fits, summaries, chained, cuts, refused)
	for what, n := range map[string]int{"summaries": summaries, "chained summaries": chained, "cut messages": cuts, "refusals": refused} {
		if n == 0 {
			t.Errorf("no history had %s", what)
		}
	}
}

func content(r *rand.Rand) (window.Content, window.Options) {
	o := window.Options{Budget: 20 + r.IntN(1<<(8+r.IntN(6))), Keep: r.IntN(14)}
	c := window.Content{Soul: words(r, r.IntN(60)), System: words(r, r.IntN(40))}
	if r.IntN(20) == 0 {
		c.Soul += "\xff\xfe no text at all \xc3"
	}
	for i := range r.IntN(3) {
		c.Pinned = append(c.Pinned, window.Message{ID: fmt.Sprint("P-", i), Role: "user", Text: words(r, r.IntN(20))})
	}
	call := ""
	for i := range r.IntN(70) {
		m := window.Message{ID: fmt.Sprint("M-", i), Role: []string{"user", "assistant"}[i%2]}
		switch k := r.IntN(100); {
		case k == 0:
			m.Text = strings.Repeat(words(r, 20)+" ", r.IntN(200))
		case k < 3:
			m.Text = strings.Repeat("€", r.IntN(4000))
		default:
			m.Text = words(r, r.IntN(40))
		}
		switch {
		case call != "" && r.IntN(4) > 0:
			m.Role, m.Answers, call = "tool", call, ""
		case r.IntN(4) == 0:
			call = fmt.Sprint("call-", i)
			m.Calls = []string{call}
		}
		c.Messages = append(c.Messages, m)
	}
	return c, o
}

var some = strings.Fields("we decided to use `go test ./...` because main.go:12 failed with error 17 ship-81 ünïcode 日本語 the deploy waits for " +
	"lock released? cache of builds is warm\nnext line: see https://example.com/x #42 and then nothing happened. Later it worked! why? ok done 🙂")

func words(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = some[r.IntN(len(some))]
	}
	return strings.Join(out, []string{" ", " ", "\n"}[r.IntN(3)])
}

// check holds a result against every promise of the package.
func check(t *testing.T, seed uint64, c window.Content, o window.Options, f window.Fitted) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d, %d messages, budget %d: %s", seed, len(c.Messages), o.Budget, fmt.Sprintf(format, args...))
	}
	if got := estimate(f); got > o.Budget || got != f.Tokens {
		fail("it costs %d, and says %d", got, f.Tokens)
	}
	if f.Soul != c.Soul || f.System != c.System {
		fail("soul or system prompt differ")
	}
	keep := o.Keep
	if keep == 0 {
		keep = window.DefaultKeep
	}
	open := after(c)
	if len(f.Messages) < min(keep, len(open)) {
		fail("only %d messages are sent", len(f.Messages))
	}
	room := o.Budget - text.Tokens(c.Soul) - text.Tokens(c.System)
	called := map[string]bool{}
	for i, m := range f.Messages {
		whole := open[len(open)-len(f.Messages)+i]
		large := window.PerMessage+text.Tokens(whole.Text) > room
		switch {
		case m.ID != whole.ID:
			fail("message %s stands where %s was", m.ID, whole.ID)
		case !large && m.Text != whole.Text:
			fail("message %s is not whole", m.ID)
		case large && (!slices.Contains(f.Cut, m.ID) || !strings.Contains(m.Text, " bytes are left out …")):
			fail("message %s was cut and does not say so: %.80q", m.ID, m.Text)
		case !utf8.ValidString(m.Text):
			fail("message %s is cut in a character", m.ID)
		case m.Answers != "" && !called[m.Answers]:
			fail("message %s answers a call that is not sent", m.ID)
		}
		for _, id := range m.Calls {
			called[id] = true
		}
	}
	if f.Summary != nil {
		checkSummary(fail, c, f)
	}
	covered := len(open) - len(f.Messages)
	if summarized := f.New && f.Summary != nil; covered > 0 && !summarized && len(f.Left) != covered {
		fail("%d messages are gone without a word", covered)
	}
}

func checkSummary(fail func(string, ...any), c window.Content, f window.Fitted) {
	s := f.Summary
	if !utf8.ValidString(s.Text()) {
		fail("the summary is not text")
	}
	index := func(id string) int {
		return slices.IndexFunc(c.Messages, func(m window.Message) bool { return m.ID == id })
	}
	if index(s.From) != 0 || s.Count != index(s.To)+1 {
		fail("the summary of %d messages goes from %s to %s", s.Count, s.From, s.To)
	}
	if f.New && len(f.Messages) > 0 && index(s.To)+1 != index(f.Messages[0].ID) {
		fail("the summary ends with %s, and %s is sent", s.To, f.Messages[0].ID)
	}
	for _, l := range s.Lines {
		if from := index(l.ID); from < 0 || from > index(s.To) {
			fail("a line is from %q", l.ID)
		}
	}
}

// checkRefused holds an error against what it says.
func checkRefused(t *testing.T, seed uint64, c window.Content, o window.Options, err error) {
	t.Helper()
	var large *window.TooLargeError
	if !errors.As(err, &large) || large.Tokens <= large.Budget || large.Budget != o.Budget {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if soul := text.Tokens(c.Soul); (soul > o.Budget) != (large.What == "the soul") {
		t.Fatalf("seed %d: a soul of %d tokens, budget %d: %v", seed, soul, o.Budget, err)
	}
}

func after(c window.Content) []window.Message {
	if c.Summary != nil {
		i := slices.IndexFunc(c.Messages, func(m window.Message) bool { return m.ID == c.Summary.To })
		return c.Messages[i+1:]
	}
	return c.Messages
}
