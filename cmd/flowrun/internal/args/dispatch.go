package args

// DispatchAdd is what the command dispatch add takes.
type DispatchAdd struct {
	Title        string
	Body         string
	To           string // the agent that may take it; "": each one
	Labels       []string
	Needs        []string // ids of work that must be done before
	Capabilities []string
	Priority     int
	ID           string // "": the store gives one
	Key          string
	As           string // who hands it in; "": the user of the system
	JSON         bool
}

// DispatchList is what the command dispatch list takes.
type DispatchList struct {
	All     bool
	Tickets bool
	JSON    bool
}

// DispatchShow is what the command dispatch show takes.
type DispatchShow struct {
	ID   string
	JSON bool
}

// DispatchCancel is what the command dispatch cancel takes.
type DispatchCancel struct {
	IDs  []string
	JSON bool
}
