package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// The words that texts are made of: what agents that work on software write down.
var (
	who  = strings.Fields("parser scheduler compiler migration deployment pipeline database cache proxy worker queue client server runner linter router index session token certificate cluster container balancer logger scanner importer exporter renderer planner watcher")
	did  = strings.Fields("failed stopped crashed retried skipped dropped rejected duplicated corrupted blocked leaked delayed restarted recovered finished accepted rebuilt replaced renamed removed")
	when = strings.Fields("after before during without because unless while until despite since")
	what = strings.Fields("timeout upgrade rollback release restart request response backup schema password network memory disk thread lock message header branch commit review coverage warning deadline threshold limit replica snapshot checksum encoding permission dependency")
	how  = strings.Fields("slowly twice silently again overnight locally remotely early late partly")
)

// texts makes texts that are the same every time.
type texts struct{ *rand.Rand }

func newTexts() texts { return texts{rand.New(rand.NewPCG(45, 1))} }

func (t texts) of(list []string) string { return list[t.IntN(len(list))] }

// sentence has 11 words, some 14 tokens.
func (t texts) sentence() string {
	return fmt.Sprintf("The %s %s %s %s the %s of the %s %s %d.", t.of(who), t.of(did), t.of(how), t.of(when), t.of(what), t.of(who), t.of(what), t.IntN(1000))
}

// entry has three sentences, some 45 tokens.
func (t texts) entry() string { return t.sentence() + " " + t.sentence() + " " + t.sentence() }

// query asks for some of the words of a sentence.
func (t texts) query() string {
	return fmt.Sprintf("which %s %s %s the %s", t.of(who), t.of(did), t.of(when), t.of(what))
}

// imported is a line of memory import.
type imported struct {
	ID        string    `json:"id"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// writeEntries writes n lines for memory import; make fills in what is special about the i-th.
func writeEntries(name string, n int, make func(i int, e *imported)) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for i := range n {
		e := imported{ID: fmt.Sprintf("E%d", i), CreatedAt: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)}
		make(i, &e)
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return w.Flush()
}
