package main

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/memory/eval"
)

// floor is what each way must reach: what was measured, less two questions of the kind. A change of the ranking that falls
// below it either has a fault or has a reason, which its commit tells as it lowers the floor. The table is
// R@1, R@5, R@10 and MRR in hundredths, of near, far and turns.
var floor = [][3][4]float64{
	{{97.8, 97.8, 97.8, 97.8}, {0, 0, 1.1, 0}, {19.2, 47.5, 60, 34}},
	{{97.8, 97.8, 97.8, 97.8}, {0, 5.5, 19.8, 4.2}, {28.4, 56.7, 65, 41.4}},
	{{97.8, 97.8, 97.8, 97.8}, {7.7, 16.5, 34.1, 13}, {25.9, 64.2, 80, 43.5}},
}

func TestRetrievalHasNotBecomeWorse(t *testing.T) {
	sets, err := eval.Sets()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range ways {
		if testing.Short() && w.Embedder != nil {
			continue
		}
		results, err := measure(context.Background(), sets, w.Options)
		if err != nil {
			t.Fatal(err)
		}
		for j, r := range results {
			t.Logf("%s: %s", w.name, r)
			f := floor[i][j]
			if 100*r.R1 < f[0] || 100*r.R5 < f[1] || 100*r.R10 < f[2] || 100*r.MRR < f[3] {
				t.Errorf("%s: %s, want at least %v", w.name, r, f)
			}
		}
	}
}

// TestAnswersDoNotDependOnTheRun measures twice, in stores of their own, and wants equal results.
func TestAnswersDoNotDependOnTheRun(t *testing.T) {
	sets, err := eval.Sets()
	if err != nil {
		t.Fatal(err)
	}
	first, err := measure(context.Background(), sets, ways[1].Options)
	if err != nil {
		t.Fatal(err)
	}
	second, err := measure(context.Background(), sets, ways[1].Options)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range second {
		if r != first[i] {
			t.Errorf("first %s, then %s", first[i], r)
		}
	}
}
