package args

// Events is what events takes.
type Events struct {
	Runs
	Node  string // only what is about this node, or below it
	Since int    // from this event on; 0: from the first
}

// Check refuses numbers.
func (e *Events) Check() error {
	if e.Since < 0 {
		return Errorf("--since %d is below 0", e.Since)
	}
	return e.Runs.Check()
}

// Show is what runs show takes.
type Show struct {
	Runs
	At int // as it was after this event; 0: as it is
}

// Check refuses numbers.
func (s *Show) Check() error {
	if s.At < 0 {
		return Errorf("--at %d is below 0", s.At)
	}
	return s.Runs.Check()
}
