package ui

// Problem is what stands on standard output in place of a JSON result where the command itself failed.
type Problem struct {
	V        int         `json:"v"`
	Type     string      `json:"type"` // "error"
	Error    ProblemText `json:"error"`
	ExitCode int         `json:"exit_code"`
}

// ProblemText says what went wrong. Kind is usage or failed.
type ProblemText struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// NewProblem makes a Problem.
func NewProblem(kind, message string, exitCode int) Problem {
	return Problem{EventVersion, "error", ProblemText{kind, message}, exitCode}
}
