package args

// ProgramsList is what the command programs list takes.
type ProgramsList struct{ JSON bool }

// ProgramsRemove is what the command programs remove takes.
type ProgramsRemove struct {
	Program string // a path
	JSON    bool
}
