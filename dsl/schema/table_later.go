package schema

// laterBlocks are in the language, and not carried out by this release.
var laterBlocks = map[string]*Block{
	"pool":       {Doc: "Agents that share tasks.", Later: true},
	"escalation": {Doc: "What happens when retries don't help.", Later: true}, "channel": {Doc: "Where to notify people.", Later: true},
	"quota": {Doc: "A bound shared by runs.", Later: true}, "routine": {Doc: "Starts a workflow by the clock.", Later: true},
	"on": {Doc: "Starts a workflow on an event.", Later: true}, "loop": {Doc: "Finds the next piece of work.", Later: true},
	"library":         {Doc: "Workflows from elsewhere.", Later: true},
	"circuit_breaker": {Doc: "Stops asking an agent that fails.", Later: true},
	"rate_limit":      {Doc: "How often an agent is asked.", Later: true}, "resources": {Doc: "What an agent may use.", Later: true},
	"review":    {Doc: "A gate by an agent's review.", Later: true},
	"benchmark": {Doc: "A gate by a measured figure.", Later: true}, "security": {Doc: "A gate by a security scan.", Later: true},
	"feedback":  {Doc: "Producer and reviewer until accepted.", Later: true},
	"consensus": {Doc: "Participants vote.", Later: true}, "delegate": {Doc: "A conductor chooses who.", Later: true},
	"compete": {Doc: "Several agents, one winner.", Later: true}, "approve": {Doc: "A person's decision.", Later: true}, "emit": {Doc: "Publishes an event.", Later: true},
	"kv":      {Doc: "State shared by runs.", Later: true},
	"handoff": {Doc: "A structured hand-over.", Later: true}, "sync": {Doc: "A sync point shared by runs.", Later: true},
	"budget": {Doc: "What the node may cost.", Later: true},
}
