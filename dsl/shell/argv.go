package shell

import "github.com/flowrun/flowrun/dsl/diag"

// Around is what a script or a program is given beside its own text: values in its environment and on its standard input.
type Around struct {
	Env   func(name string) (Part, bool) // a variable of the environment whose value is only known in a run
	Stdin *Part
	Dir   *Part // the folder in which it runs
}

// Argv judges a program and its arguments that no shell reads: each word is its parts, in which values stand. What it
// finds are values that decide which program runs, values in text that the program runs, as in sh -c TEXT, and values that
// it could take for an option that runs or writes something.
func (a Around) Argv(words [][]Part) diag.List {
	s := newScan(POSIX)
	for _, w := range words {
		for _, p := range w {
			if !p.Value {
				a.hold(s, p.Text)
			}
		}
	}
	list := make([]*word, len(words))
	for i, w := range words {
		list[i] = wordOf(w)
	}
	a.hold(s, "")
	reads := s.judge(list)
	for _, w := range list {
		if w.no == nil || !w.no.inLists() {
			continue
		}
		for _, p := range w.parts {
			if p.Value && !(p.Tame && w.no.code == banArithmetic.code) {
				s.list = append(s.list, w.no.of(p))
			}
		}
	}
	if reads != nil && a.Stdin != nil {
		s.list = append(s.list, reads.of(*a.Stdin))
	}
	return s.list
}

// inLists reports whether a reason holds where no shell reads the words: printf, test and their kin are plain programs
// there.
func (b *ban) inLists() bool {
	switch b.code {
	case banFormat.code, banName.code, banTest.code, banPattern.code:
		return b.via != ""
	}
	return true
}

// hold makes the variables of the environment known that a text names.
func (a Around) hold(s *scan, text string) {
	each(text, func(name string) {
		p, ok := a.lookup(name)
		if !ok || p.Tame || s.held[name] != nil {
			return
		}
		s.held[name] = []*source{once(func(b *ban) { s.list = append(s.list, b.of(p)) })}
	})
	if a.Stdin != nil && !a.Stdin.Tame {
		s.stdin = once(func(b *ban) { s.list = append(s.list, b.of(*a.Stdin)) })
	}
	if a.Dir != nil && !a.Dir.Tame && s.folder == nil {
		s.folder = once(func(b *ban) { s.list = append(s.list, b.of(*a.Dir)) }).refuse
	}
}

// once is a source that is refused one time.
func once(refuse func(*ban)) *source {
	refused := false
	return &source{func(b *ban) {
		if !refused {
			refused = true
			refuse(b)
		}
	}}
}

func (a Around) lookup(name string) (Part, bool) {
	if a.Env == nil {
		return Part{}, false
	}
	return a.Env(name)
}

// concerns is a value around a script without values for which it has to be read.
func (a Around) concerns(text string) (value Part, ok bool) {
	if a.Stdin != nil && !a.Stdin.Tame {
		return *a.Stdin, true
	}
	if a.Dir != nil && !a.Dir.Tame {
		value, ok = *a.Dir, true
	}
	each(text, func(name string) {
		if p, known := a.lookup(name); known && !p.Tame {
			value, ok = p, true
		}
	})
	return value, ok
}

// each calls f with the words of a text that can be names.
func each(text string, f func(string)) {
	from := -1
	for i := 0; i <= len(text); i++ {
		letter := i < len(text) && isName("_"+text[i:i+1])
		if letter && from < 0 {
			from = i
		}
		if !letter && from >= 0 {
			f(text[from:i])
			from = -1
		}
	}
}
