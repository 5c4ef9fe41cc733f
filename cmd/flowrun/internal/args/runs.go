package args

// Runs is what runs list, show and logs, resume, retry and cancel take.
type Runs struct {
	Global
	Run    string // an id, a unique prefix, a workflow's name or "latest"
	Step   string // logs
	JSON   bool
	Limit  int    // list: at most so many; 0 means all
	Reason string // cancel
	From   string // retry: a step, or an instance of one
	Only   string // retry: a step
	Given         // resume, retry
	Drive
}

// Check refuses numbers and texts.
func (r *Runs) Check() error {
	if r.Limit < 0 {
		return Errorf("--limit %d is below 0", r.Limit)
	}
	if r.From != "" && r.Only != "" {
		return Errorf("--from and --only exclude each other")
	}
	if err := IsText("--reason", r.Reason); err != nil {
		return err
	}
	return r.Drive.Check()
}
