package args

// Worker is what worker takes.
type Worker struct {
	Queues    []string
	Slots     int
	Workspace string
	Memory    bool
}

// MaxSlots bounds --slots.
const MaxSlots = 1000

// Check refuses what cannot be served.
func (w *Worker) Check() error {
	if w.Slots < 1 || w.Slots > MaxSlots {
		return Errorf("--slots is %d; it can be 1 to %d", w.Slots, MaxSlots)
	}
	return nil
}
