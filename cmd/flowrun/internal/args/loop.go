package args

// LoopRun is what loop run takes.
type LoopRun struct {
	Name string
	Path string // "" means the current folder
	Given
	Once      bool
	UntilIdle bool
	JSON      bool
	Drive
}

// Check refuses what does not go together.
func (o *LoopRun) Check() error {
	if o.Once && o.UntilIdle {
		return Errorf("--once and --until-idle say two different ends; give one of them")
	}
	return o.Drive.Check()
}
