package args

// Emit is what the command emit takes.
type Emit struct {
	Name string
	Data string // JSON, or a text
	Key  string
	Run  string // as a person names it; "" means all runs
	JSON bool
}
