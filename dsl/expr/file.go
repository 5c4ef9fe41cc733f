package expr

import "fmt"

// fileText is file("PATH"): a text that was read with the program, before anything runs.
type fileText struct {
	span
	path string
}

// makeFile reads the argument of file(…), which is written out: so all files are known before a run.
func makeFile(fs *findings, at span, args []node) node {
	if len(args) == 1 {
		l, _ := args[0].(*lit)
		if path, ok := l.name(); ok {
			return &fileText{at, path}
		}
	}
	fs.add(at, codeFile, "file needs a literal path", "flowrun reads it with the program, before the run:  file(\"prompts/review.md\"). To read a file during the run, use a step: run = [\"cat\", PATH].")
	return &lit{at, nil}
}

// file checks that the file can be read.
func (c *checker) file(n *fileText) {
	c.files = true
	if c.env.File == nil {
		c.add(n.span, codeFile, "file is not available here", "file(…) is allowed in the files of a program.")
		return
	}
	if _, err := c.env.File(n.path); err != nil {
		c.add(n.span, codeFile, fmt.Sprintf("File %.80q cannot be read", n.path), capital(err.Error())+".")
	}
}

func (r *run) file(n *fileText) (string, error) {
	text, ok := r.files[n.path]
	if !ok {
		return "", fmt.Errorf("the text of %q is not kept with the program", shorten(n.path))
	}
	return text, r.text(len(text))
}
