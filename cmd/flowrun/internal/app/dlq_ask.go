package app

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/shared"
)

// deadLetter is a dead letter as the store gives it.
type deadLetter struct {
	ID       string         `json:"id"`
	Kind     string         `json:"kind"`
	Workflow string         `json:"workflow"`
	Run      string         `json:"run"`
	Node     string         `json:"node"`
	Channel  string         `json:"channel"`
	Message  *event.Message `json:"message"`
	Item     *struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Loop  string `json:"loop"`
		Agent string `json:"agent"`
	} `json:"item"`
	Program string `json:"program"`
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

// readDead reads a dead letter, or a list of them, into to.
func readDead(v value.Value, to any) error {
	if err := json.Unmarshal(value.Append(nil, v), to); err != nil {
		return fmt.Errorf("reading the dead letters: %w", err)
	}
	return nil
}

// words is a dead letter in a line.
func (d *deadLetter) words() string {
	about := d.Workflow + ", run " + d.Run
	if d.Event != nil {
		about = fmt.Sprintf("%s (%s) → %s", d.Event.Name, d.Event.ID, d.Workflow)
	}
	if d.Routine != nil {
		about = fmt.Sprintf("%s → %s", d.Routine.Name, d.Workflow)
	}
	if d.Node != "" {
		about += ", " + d.Node
	}
	if d.Kind == shared.DeadNotification {
		about = "channel " + d.Channel + " of " + about
	}
	if i := d.Item; i != nil {
		about = fmt.Sprintf("%s %q of loop %s", i.ID, i.Title, i.Loop)
		if d.Run != "" {
			about += ", run " + d.Run
		}
	}
	times := ""
	if d.Times > 1 {
		times = fmt.Sprintf(" (%d times)", d.Times)
	}
	return fmt.Sprintf("%s  %s  %s%s  %s", d.ID, d.Kind, ui.Clean(about), times, ui.Clean(firstLineOf(d.Error.Message)))
}

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
