package args

// DlqList is what the command dlq list takes.
type DlqList struct{ JSON bool }

// DlqShow is what the command dlq show takes.
type DlqShow struct {
	ID   string
	JSON bool
}

// DlqDrop is what the command dlq drop takes.
type DlqDrop struct {
	IDs  []string
	JSON bool
}

// DlqRedrive is what the command dlq redrive takes.
type DlqRedrive struct {
	Given
	Drive
	IDs  []string
	As   string // who redrives; "": the user of the system
	JSON bool
}
