package args

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl/value"
)

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

// DispatchClaim is what the command dispatch claim takes.
type DispatchClaim struct {
	ID           string // "": the first that As can take
	As           string // who takes it
	Capabilities []string
	Tickets      bool
	Lease        Lease
	JSON         bool
}

// Check refuses a claim of nobody.
func (r *DispatchClaim) Check() error {
	if r.As == "" {
		return &Error{"--as is missing: the name under which the work is held", "flowrun dispatch claim --as NAME"}
	}
	_, err := r.Lease.Read()
	return err
}

// DispatchHold is what the commands take that change a claim: dispatch renew, release and close.
type DispatchHold struct {
	ID     string
	Token  uint64
	Lease  Lease  // of renew
	Reason string // of release
	Failed bool   // of release
	JSON   bool
}

// DispatchHandOver is what the command dispatch hand-over takes.
type DispatchHandOver struct {
	ID            string
	Token         uint64
	To            string
	Summary       string
	Next          string
	FilesChanged  []string
	Decisions     []string
	OpenQuestions []string
	Acceptance    []string
	Blockers      []string
	Priority      int
	As            string // who hands it over; "": the user of the system
	JSON          bool
}

// Check refuses a hand-over that says nothing.
func (r *DispatchHandOver) Check() error {
	for _, part := range [][2]string{{"to", r.To}, {"summary", r.Summary}, {"next", r.Next}} {
		if strings.TrimSpace(part[1]) == "" {
			return Errorf("--%s is missing", part[0])
		}
	}
	return checkToken(r.Token)
}

// Check refuses a change without a token.
func (r *DispatchHold) Check() error {
	if _, err := r.Lease.Read(); err != nil {
		return err
	}
	return checkToken(r.Token)
}

func checkToken(token uint64) error {
	if token == 0 {
		return &Error{"--token is missing: the number that flowrun dispatch claim printed", ""}
	}
	return nil
}

// Lease is how long a claim holds unless it is renewed, as a person writes it; "" means 10 minutes.
type Lease string

// Read reads a lease.
func (l Lease) Read() (time.Duration, error) {
	if l == "" {
		return 10 * time.Minute, nil
	}
	d, err := value.ParseDuration(string(l))
	if err != nil {
		return 0, Errorf("--lease: %v", err)
	}
	if d <= 0 || d > 24*time.Hour {
		return 0, Errorf("--lease %s is not between 1ns and 24h", l)
	}
	return d, nil
}
