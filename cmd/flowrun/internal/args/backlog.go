package args

// BacklogList is what the command backlog list takes.
type BacklogList struct {
	File   string // Markdown or JSONL; "-" = standard input, as Markdown
	Status []string
	JSON   bool
}

// Check refuses a list of nothing and unknown statuses.
func (r *BacklogList) Check(statuses []string) error {
	if r.File == "" {
		return Errorf("--file names the Markdown or JSONL file")
	}
	for _, s := range r.Status {
		if err := OneOf("--status", s, statuses...); err != nil {
			return err
		}
	}
	return nil
}
