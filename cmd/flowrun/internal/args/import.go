package args

import (
	"slices"
	"strings"
)

// Import is what import takes.
type Import struct {
	File   string // of another tool; - is standard input
	From   string // its format; "" means that the file tells
	Output string // the file to write; - is standard output
}

// Check refuses unknown formats, and an output whose name no program can have.
func (i *Import) Check(formats []string) error {
	if i.From != "" && !slices.Contains(formats, i.From) {
		return &Error{"--from is " + i.From + "; it can be " + strings.Join(formats, ", "), ""}
	}
	if i.Output != "-" && i.Output != "" && !strings.HasSuffix(i.Output, ".flow.hcl") {
		return &Error{"the name " + i.Output + " does not end with .flow.hcl", "Programs are files *.flow.hcl; --output - writes to standard output."}
	}
	return nil
}
