package eval

import "fmt"

// Depth is how many results a search is asked for.
const Depth = 10

// Result is what a search came to over the questions of a kind.
type Result struct {
	Kind      string
	Questions int
	// R1, R5 and R10 are the shares of the answers that stand among the first 1, 5 and 10 results; MRR is the mean of
	// 1/place of the first answer. All are means over the questions, and lie in 0 to 1.
	R1, R5, R10, MRR float64
}

// Measure asks all questions. open makes a store of the entries of a set, and returns what searches it: it gives the ids of at
// most k entries, best first. open is called once for each name; results are in the order of their kinds' first sets.
func Measure(sets []Set, open func(s Set) (search func(query string, k int) ([]string, error), err error)) ([]Result, error) {
	var results []Result
	at := map[string]int{}
	searches := map[string]func(string, int) ([]string, error){}
	for _, s := range sets {
		search := searches[s.Name]
		if search == nil {
			var err error
			if search, err = open(s); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
			searches[s.Name] = search
		}
		if _, ok := at[s.Kind]; !ok {
			at[s.Kind] = len(results)
			results = append(results, Result{Kind: s.Kind})
		}
		r := &results[at[s.Kind]]
		for _, q := range s.Questions {
			found, err := search(q.Query, Depth)
			if err != nil {
				return nil, fmt.Errorf("%s, question %s: %w", s.Name, q.ID, err)
			}
			r.add(q, found)
		}
	}
	for i := range results {
		results[i].divide()
	}
	return results, nil
}

func (r *Result) add(q Question, found []string) {
	r.Questions++
	place := map[string]int{}
	for i, id := range found[:min(Depth, len(found))] {
		place[id] = i + 1
	}
	share := 1 / float64(len(q.Answers))
	first := 0
	for _, a := range q.Answers {
		p := place[a]
		if p == 0 {
			continue
		}
		if first == 0 || p < first {
			first = p
		}
		r.R10 += share
		if p <= 5 {
			r.R5 += share
		}
		if p <= 1 {
			r.R1 += share
		}
	}
	if first > 0 {
		r.MRR += 1 / float64(first)
	}
}

func (r *Result) divide() {
	n := float64(max(1, r.Questions))
	r.R1, r.R5, r.R10, r.MRR = r.R1/n, r.R5/n, r.R10/n, r.MRR/n
}

// String is a line of a table, in hundredths.
func (r Result) String() string {
	return fmt.Sprintf("%-6s %4d questions   R@1 %5.1f   R@5 %5.1f   R@10 %5.1f   MRR %5.1f",
		r.Kind, r.Questions, 100*r.R1, 100*r.R5, 100*r.R10, 100*r.MRR)
}
