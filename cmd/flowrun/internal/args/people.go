package args

// Inbox is what the command inbox takes.
type Inbox struct{ JSON bool }

// Decide is what the command decide takes.
type Decide struct {
	Run, Node, Word string
	As              string // "" means the user of the operating system
	Comment         string
	Shown           string // "" means what is shown now
	Inputs          Pairs
	Output          string // JSON, or a text
	HasOutput       bool   // the flag was given
	Resume          bool
	JSON            bool
	Drive
}

// Check refuses a comment that is not text.
func (r *Decide) Check() error {
	if err := IsText("--comment", r.Comment); err != nil {
		return err
	}
	return r.Drive.Check()
}
