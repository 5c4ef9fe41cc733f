package serve

// The lists below are answers of the store as they are: these types describe them in the OpenAPI document, and an answer may have more members.

// Inbox is what waits for people, the oldest first.
type Inbox struct {
	Items []Ask `json:"items"`
}

// Ask is a node that waits for people.
type Ask struct {
	Kind      string   `json:"kind"`
	Run       string   `json:"run"`
	Node      string   `json:"node"` // "." for the run itself
	Name      string   `json:"name"`
	Words     []string `json:"words"`
	Since     string   `json:"since"`
	Until     *string  `json:"until"`
	Prompt    string   `json:"prompt"`
	Show      any      `json:"show"`
	Shown     string   `json:"shown"` // the hash of what is shown
	Approvers []string `json:"approvers"`
	Quorum    int      `json:"quorum"`
	Votes     []struct {
		By   string `json:"by"`
		Word string `json:"word"`
		At   string `json:"at"`
	} `json:"votes"`
}

// Events are published events, the oldest first.
type Events struct {
	Items []PublishedEvent `json:"items"`
}

// PublishedEvent is an event of the store.
type PublishedEvent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	At   string `json:"at"`
	Data any    `json:"data"`
}

// DeadLetters are what was given up, the oldest first.
type DeadLetters struct {
	Items []DeadLetter `json:"items"`
}

// DeadLetter is work, a message or an event that was given up.
type DeadLetter struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	Workflow string  `json:"workflow"`
	Run      string  `json:"run"`
	Node     *string `json:"node"`
	Channel  *string `json:"channel"` // of a message that could not be sent
	Item     *struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Loop  string `json:"loop"`
		Agent string `json:"agent"`
	} `json:"item"`
	Program *string `json:"program"`
	Event   *struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"event"`
	Routine *struct {
		Name    string   `json:"name"`
		Moments []string `json:"moments"`
	} `json:"routine"`
	Error struct {
		Kind    string `json:"kind"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"error"`
	Times    int    `json:"times"`
	At       string `json:"at"`
	Last     string `json:"last"`
	Redrives []struct {
		By string `json:"by"`
		At string `json:"at"`
	} `json:"redrives"`
}

// Audits are the changes over the API, the newest first.
type Audits struct {
	Items []Audit `json:"items"`
}

// Audit is a change over the API.
type Audit struct {
	Seq    int    `json:"seq"`
	At     string `json:"at"`
	By     string `json:"by"`
	From   string `json:"from"`
	What   string `json:"what"`
	Target string `json:"target"`
	Data   any    `json:"data"` // the body of the request
}
