package args

import (
	"slices"
	"strings"
)

// MCP is what mcp takes.
type MCP struct {
	Listen string   // the address of HTTP; "" is standard input and output
	Allow  []string // what clients may do
}

// Check refuses unknown rights.
func (m *MCP) Check(rights []string) error {
	for _, a := range m.Allow {
		if !slices.Contains(rights, a) {
			return &Error{"--allow is " + a + "; it can be " + strings.Join(rights, ", "), ""}
		}
	}
	return nil
}
