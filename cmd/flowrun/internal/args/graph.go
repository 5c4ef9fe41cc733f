package args

// Graph is what graph takes.
type Graph struct {
	Path     string // "" only with Run
	Workflow string // "" means the only one, or the default
	Format   string // svg | mermaid | dot | json
	Run      string // "" means no run
	Around   string // the node of which a part is drawn; "" means the whole workflow
	Depth    int    // how many edges away from Around; -1 means that it was not given, which is 1
}

// Check refuses formats, and nothing to draw.
func (g *Graph) Check() error {
	if g.Path == "" && g.Run == "" {
		return &Error{"an argument is missing: flowrun graph FILE|DIR|RUN [WORKFLOW]", "See flowrun graph --help."}
	}
	if g.Depth != -1 && g.Around == "" {
		return Errorf("--depth needs --around NODE")
	}
	if g.Depth < -1 {
		return Errorf("--depth must be 0 or more")
	}
	return OneOf("--format", g.Format, "svg", "mermaid", "dot", "json")
}
