package args

// Fmt is what fmt takes.
type Fmt struct {
	Paths []string // "-" alone means standard input
	Dry   bool     // --check: name what would change, and write nothing
	Diff  bool     // show what would change, and write nothing
	Force bool     // lay out files of other tools, too
}

// Check refuses standard input beside files.
func (f *Fmt) Check() error {
	for _, p := range f.Paths {
		if p == "-" && len(f.Paths) > 1 {
			return &Error{"- cannot be combined with other paths", "Format standard input alone: flowrun fmt - < FILE."}
		}
	}
	return nil
}
