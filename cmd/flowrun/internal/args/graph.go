package args

// Graph is what graph takes.
type Graph struct {
	Path     string // "" only with Run
	Workflow string // "" means the only one, or the default
	Format   string // svg | mermaid | dot | json
	Run      string // "" means no run
}

// Check refuses formats, and nothing to draw.
func (g *Graph) Check() error {
	if g.Path == "" && g.Run == "" {
		return &Error{"an argument is missing: flowrun graph FILE|DIR|RUN [WORKFLOW]", "See flowrun graph --help."}
	}
	return OneOf("--format", g.Format, "svg", "mermaid", "dot", "json")
}
