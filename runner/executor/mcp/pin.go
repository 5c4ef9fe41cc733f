package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// maxChanged bounds how many changed places a message names.
const maxChanged = 5

// CheckPin compares what a server says of a tool with a pin, which is what was checked in: an object as Tool.Said. A nil pin is not
// compared. The error names the places that have changed.
func CheckPin(pin value.Value, t Tool) *event.Error {
	if pin == nil {
		return nil
	}
	pinned, _ := pin.(map[string]value.Value)
	var changed []string
	compare("", pinned, t.Said, func(place string) { changed = append(changed, place) })
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	list := strings.Join(changed[:min(len(changed), maxChanged)], ", ")
	if more := len(changed) - maxChanged; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return &event.Error{Kind: event.Blocking, Reason: event.ReasonPin, ExitCode: -1, Message: fmt.Sprintf(
		"the server describes the tool %q in other words than its pin: %s. The tool was not called. Read the new description, and pin it if it is right",
		t.Name, list)}
}

// compare names the places where two values differ.
func compare(at string, a, b value.Value, tell func(place string)) {
	x, isX := a.(map[string]value.Value)
	y, isY := b.(map[string]value.Value)
	if !isX || !isY {
		switch {
		case a == nil && b != nil:
			tell(at + " (new)")
		case b == nil && a != nil:
			tell(at + " (removed)")
		case string(value.Append(nil, a)) != string(value.Append(nil, b)):
			tell(at)
		}
		return
	}
	for name := range x { // any order: the places are sorted
		compare(join(at, name), x[name], y[name], tell)
	}
	for name := range y { // any order: the places are sorted
		if _, both := x[name]; !both {
			compare(join(at, name), nil, y[name], tell)
		}
	}
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
