package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/cmd/flowbench/internal/child"
)

// entriesFile is what memory import reads.
const entriesFile = "entries.jsonl"

// imports gives the median over the rounds of what it costs to import n entries, in ms of CPU an entry.
func (l *lab) imports(n int, flags ...string) (float64, error) {
	var cost series
	err := l.each(func() error {
		dir, err := l.place("")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		t := newTexts()
		if err := writeEntries(filepath.Join(dir, entriesFile), n, func(_ int, e *imported) { e.Text = t.entry() }); err != nil {
			return err
		}
		c, _, err := child.Run(dir, append([]string{l.flowrun, "memory", "import", entriesFile, "--store", store}, flags...)...)
		cost.add(c.CPU.Seconds() * 1000 / float64(n))
		return err
	})
	return cost.median(), err
}

func memoryImport(l *lab) ([]figure, error) {
	n, many := l.n(500), l.n(20_000)
	full, err := l.imports(n)
	if err != nil {
		return nil, err
	}
	words, err := l.imports(many, "--embedder", "none")
	return []figure{
		{fmt.Sprintf("import of %d entries, default embedder", n), 1000 / full, "/s", atLeast(30), "entries of 45 tokens a CPU second, the process whole"},
		{fmt.Sprintf("import of %d entries, embedder none", many), 1000 / words, "/s", atLeast(1000), "the same"},
	}, err
}

// pool is how many different sentences the entries of the search rows have: their vectors are made once, so that the row takes
// minutes less, and a search is not told anything by it.
const pool = 2000

func memorySearch(l *lab) ([]figure, error) {
	n, asked := l.n(10_000), l.n(1000)
	dir, t, err := l.filled(n)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var half, most, each, cold, coldCPU, add, floor series
	vectors := 4 * n // an entry and its sentences
	err = l.each(func() error {
		took, cpu, err := l.ask(dir, asked, t)
		if err != nil {
			return err
		}
		half.add(at(took, 0.5))
		most.add(at(took, 0.95))
		c, _, err := child.Run(dir, l.flowrun, "memory", "search", "--store", store, "--json", "-k", "10", t.query())
		if err != nil {
			return err
		}
		cold.add(c.Wall.Seconds() * 1000)
		coldCPU.add(c.CPU.Seconds() * 1000)
		each.add((cpu - c.CPU).Seconds() * 1000 / float64(asked))
		if c, _, err = child.Run(dir, l.flowrun, "memory", "add", "--store", store, t.entry()); err != nil {
			return err
		}
		add.add(c.Wall.Seconds() * 1000)
		_, r, err := l.floor("scan", "-n", strconv.Itoa(vectors), "-dim", "612", "-queries", "20")
		floor.add(r.Wall.Seconds() * 1000 / 20)
		return err
	})
	beside := fmt.Sprintf("median %.1f ms; a flat scan of %d vectors of 612 numbers %.1f ms", half.median(), vectors, floor.median())
	return []figure{
		{fmt.Sprintf("search of %d entries, p95 of %d in one process", n, asked), most.median(), "ms", atMost(60), beside},
		{fmt.Sprintf("search of %d entries in one process, CPU", n), each.median(), "ms", bound{}, "a query, without the start"},
		{fmt.Sprintf("search of %d entries as a command, wall", n), cold.median(), "ms", atMost(1000), fmt.Sprintf("CPU %.0f ms", coldCPU.median())},
		{fmt.Sprintf("add beside %d entries as a command, wall", n), add.median(), "ms", bound{}, ""},
	}, err
}

// filled makes a place whose memory has n entries of three sentences, and gives the texts that they were drawn from. Who asks for
// it removes it.
func (l *lab) filled(n int) (dir string, t texts, err error) {
	if dir, err = l.place(""); err != nil {
		return "", t, err
	}
	t = newTexts()
	sentences := make([]string, pool)
	for i := range sentences {
		sentences[i] = t.sentence()
	}
	err = writeEntries(filepath.Join(dir, entriesFile), n, func(_ int, e *imported) {
		e.Text = t.of(sentences) + " " + t.of(sentences) + " " + t.of(sentences)
	})
	if err == nil {
		_, _, err = child.Run(dir, l.flowrun, "memory", "import", entriesFile, "--store", store)
	}
	if err != nil {
		return "", t, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, t, nil
}

// ask puts n queries to one process, one after the answer to the other, and gives how long each took, in ms, and the CPU of all.
func (l *lab) ask(dir string, n int, t texts) (took []float64, cpu time.Duration, err error) {
	cmd := exec.Command(l.flowrun, "memory", "search", "--store", store, "--json", "-k", "10", "--queries", "-")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	answers := bufio.NewReader(out)
	for i := range n + 1 {
		line, err := json.Marshal(map[string]string{"id": strconv.Itoa(i), "query": t.query()})
		if err != nil {
			return nil, 0, err
		}
		began := time.Now()
		if _, err := in.Write(append(line, '\n')); err != nil {
			break // Wait says why
		}
		if _, err := answers.ReadString('\n'); err != nil {
			break
		}
		if i > 0 { // the first one waits for the start
			took = append(took, time.Since(began).Seconds()*1000)
		}
	}
	in.Close()
	_, _ = io.Copy(io.Discard, answers)
	if err := cmd.Wait(); err != nil {
		return nil, 0, err
	}
	if len(took) < n {
		return nil, 0, fmt.Errorf("memory search answered %d of %d queries", len(took), n)
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// at gives the value below which such a share of the values lies.
func at(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// agentThat is a program of n tasks for an agent, one after the other, with some words at its top.
func agentThat(n int, top string) string {
	return top + fmt.Sprintf(`
agent "dev" {
  type          = "exec"
  input         = "text"
  output_format = "text"
  command       = ["sh", "-c", "cat > /dev/null; echo built"]
}

workflow "w" {
  max_concurrency = 1
  step "s" {
    for_each = range(%d)
    agent    = agent.dev
    task     = "Build module ${each.value} of the service and run its tests"
  }
}
`, n)
}

func memoryRecall(l *lab) ([]figure, error) {
	n, t := l.n(100), newTexts()
	var more, one series
	err := l.each(func() error {
		with, err := l.once(agentThat(n, "memory {}"))
		if err != nil {
			return err
		}
		without, err := l.once(agentThat(n, ""))
		if err != nil {
			return err
		}
		more.add((with.CPU - without.CPU).Seconds() * 1000 / float64(n))
		dir, err := l.place("")
		if err != nil {
			return err
		}
		var add child.Cost
		for range 2 { // the first makes the memory
			if err == nil {
				add, _, err = child.Run(dir, l.flowrun, "memory", "add", "--store", store, t.entry())
			}
		}
		one.add(add.CPU.Seconds() * 1000)
		return errors.Join(err, os.RemoveAll(dir))
	})
	return []figure{
		{fmt.Sprintf("recall and learning of %d tasks, CPU each", n), more.median(), "ms", atMost(50),
			"with repeats and patterns, the default embedder and its start, no model asked"},
		{"an entry added by a command, CPU", one.median(), "ms", bound{}, "the process whole, beside one other entry"},
	}, err
}
