package local

import (
	"context"
	"database/sql"
	"errors"

	"github.com/flowrun/flowrun/runner/durations"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// Expected returns the expected durations of a workflow's nodes, from its last runs that succeeded,
// and the number of runs that were counted; zero values if no run of the workflow has succeeded.
// Workflows with one name in different files count as one.
func (e *Engine) Expected(ctx context.Context, workflow string) (x durations.Expected, runs int, err error) {
	defer func() { err = e.explainError(err) }()
	var b []byte
	err = e.read.QueryRowContext(ctx, "SELECT runs, expected FROM durations WHERE workflow = ?", workflow).Scan(&runs, &b)
	if errors.Is(err, sql.ErrNoRows) {
		return x, 0, nil
	}
	if err == nil {
		x = durations.DecodeExpected(b)
	}
	return x, runs, err
}

// Used returns the most that an attempt of each agent has used in any run that has ended, by the agent's name.
func (e *Engine) Used() (map[string]event.Bounds, error) {
	most, err := shared.KnownUsage(e.readRows())
	return most, e.explainError(err)
}

// learnDurations adds the durations of a run that has succeeded. Reading and writing the durations costs
// some milliseconds at 10,000 nodes, once a run.
func (tx *transaction) learnDurations(workflow string, took *durations.Expected) error {
	if took == nil || len(took.US) == 0 {
		return nil
	}
	var before []byte
	err := tx.readRow("SELECT whole FROM durations WHERE workflow = ?", []any{workflow}, &before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	h := durations.DecodeHistory(before)
	h.Add(*took)
	whole, expected := h.Encode()
	_, err = tx.exec(`INSERT INTO durations (workflow, runs, whole, expected) VALUES (?, 1, ?, ?)
		ON CONFLICT DO UPDATE SET runs = runs + 1, whole = excluded.whole, expected = excluded.expected`, workflow, whole, expected)
	return err
}
