package ir

import "time"

// ChannelType says how a message reaches its receiver.
type ChannelType string

// The types of channels.
const (
	ChannelWebhook ChannelType = "webhook" // the message as JSON is posted to a URL, with a signature if there is a secret
	ChannelSlack   ChannelType = "slack"   // a text is posted to a Slack webhook
	ChannelNtfy    ChannelType = "ntfy"    // the message is published to a topic of ntfy
	ChannelSMTP    ChannelType = "smtp"    // a mail
	ChannelExec    ChannelType = "exec"    // a program reads the message as JSON
	ChannelFile    ChannelType = "file"    // the message is appended to a file as a line of JSON
	ChannelBell    ChannelType = "bell"    // the terminal rings
)

// ChannelTypes lists all types of channels.
var ChannelTypes = []ChannelType{ChannelWebhook, ChannelSlack, ChannelNtfy, ChannelSMTP, ChannelExec, ChannelFile, ChannelBell}

// UnmarshalText refuses a type that is not in [ChannelTypes].
func (t *ChannelType) UnmarshalText(text []byte) error {
	return read(t, text, "the channel's type", ChannelTypes)
}

// DefaultDedupe is how long equal messages count as one where the channel does not say.
const DefaultDedupe = 10 * time.Minute

// Channel is a way to tell people something. Its expressions read var and local only. Fields that the type does not use are nil.
type Channel struct {
	Name    string      `json:"name"`
	Type    ChannelType `json:"type"`
	URL     *Expr       `json:"url,omitempty"`
	Secret  *Expr       `json:"secret,omitempty"`  // signs (webhook), or is a password (smtp) or a token (ntfy)
	Headers *Expr       `json:"headers,omitempty"` // an object or map of texts
	Command *Expr       `json:"command,omitempty"` // a list of strings
	Host    *Expr       `json:"host,omitempty"`    // HOST or HOST:PORT
	From    *Expr       `json:"from,omitempty"`
	To      *Expr       `json:"to,omitempty"` // a text, or a list of texts
	Path    *Expr       `json:"path,omitempty"`
	Dedupe  *Expr       `json:"dedupe,omitempty"` // nil: DefaultDedupe
}

// Channel returns the channel of a name, or nil.
func (p *Program) Channel(name string) *Channel {
	for i := range p.Channels {
		if p.Channels[i].Name == name {
			return &p.Channels[i]
		}
	}
	return nil
}

// Notify sends a message to channels. The output is an object of sent, suppressed and failed, lists of names of channels.
type Notify struct {
	To    []string `json:"to"` // names of channels
	Text  Expr     `json:"text"`
	Title *Expr    `json:"title,omitempty"` // nil: "WORKFLOW: NODE"
	Level *Expr    `json:"level,omitempty"` // nil: "info"
	Data  *Expr    `json:"data,omitempty"`  // nil: null
}
