package args

// Simulate is what simulate takes.
type Simulate struct {
	Apply
	Runs int
	Seed uint64
}

// MaxSimulated bounds --runs.
const MaxSimulated = 100_000

// Check refuses counts that are out of bounds.
func (o *Simulate) Check() error {
	if o.Runs < 1 || o.Runs > MaxSimulated {
		return Errorf("--runs is %d; it can be 1 to %d", o.Runs, MaxSimulated)
	}
	return o.Apply.Check()
}
