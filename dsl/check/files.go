package check

// Options are what a program is checked against beside its own text. The zero value reads no files and asks nothing.
type Options struct {
	// Version is that of this flowrun, for required_version; "" is not compared.
	Version string
	// File reads what file("PATH") stands for. Its error says in a sentence without a full stop why it cannot be read.
	File func(path string) (string, error)
	// Advise asks for advice as well: what is right and could be better.
	Advise bool
	// LookPath tells whether a program of this name can be found; nil: programs are not looked for.
	LookPath func(name string) bool
}

// kept is a file that was read, or why it could not be.
type kept struct {
	text string
	err  error
}

// fileText reads a file once, however often it is named.
func (c *checker) fileText(path string) (string, error) {
	k, there := c.read[path]
	if !there {
		k.text, k.err = c.options.File(path)
		c.read[path] = k
	}
	return k.text, k.err
}

// texts are the files that were read, by their paths as they are written.
func (c *checker) texts() map[string]string {
	if len(c.read) == 0 {
		return nil
	}
	out := make(map[string]string, len(c.read))
	for path, k := range c.read { // any order: it fills a map
		if k.err == nil {
			out[path] = k.text
		}
	}
	return out
}

// reader is what expressions read files with, or nil.
func (c *checker) reader() func(string) (string, error) {
	if c.options.File == nil {
		return nil
	}
	return c.fileText
}
