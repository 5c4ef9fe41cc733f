package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// own holds the commands whose words have an order of their own.
var own map[string]func(*scan, []*word) *ban

func init() {
	own = map[string]func(*scan, []*word) *ban{
		"printf": (*scan).printf, "test": (*scan).bracket, "[": (*scan).bracket, "find": (*scan).find, "gfind": (*scan).find,
		".": (*scan).source, "wait": (*scan).waits, "jobs": (*scan).jobs, "cd": (*scan).changes, "pushd": (*scan).changes, "runuser": (*scan).runuser, "mlr": (*scan).mlr, "source": (*scan).source, "enable": every(banSource), "trap": first(banEval), "eval": every(banEval), "alias": every(banEval),
		"complete": every(banEval), "compgen": every(banEval), "bind": every(banEval), "fc": every(banEval), "let": every(banArithmetic), "[[": every(banTest),
		"read": (*scan).readNames, "command": (*scan).commandOf, "unset": every(banName), "getopts": every(banName), "mapfile": every(banName), "readarray": every(banName),
	}
	for name := range declaring { // any order: each for itself
		own[name] = func(s *scan, words []*word) *ban {
			s.declareWords(words[1:])
			return nil
		}
	}
}

// every refuses all words of a command, first all up to the first that is not an option.
func every(b *ban) func(*scan, []*word) *ban {
	return func(_ *scan, words []*word) *ban {
		for _, w := range words[1:] {
			w.no = b
		}
		return nil
	}
}

func first(b *ban) func(*scan, []*word) *ban {
	return func(s *scan, words []*word) *ban {
		for _, w := range words[1:] {
			w.no = b
			if !strings.HasPrefix(w.text, "-") {
				break
			}
		}
		return nil
	}
}

// source runs a file, or what it reads.
func (s *scan) source(words []*word) *ban {
	first(banSource)(s, words)
	if len(words) > 1 {
		s.runs(words[1])
	}
	for _, w := range words[1:] {
		if readsInput[w.text] {
			return banInput("source")
		}
	}
	return nil
}

// waits judges wait: -p names a variable.
func (s *scan) waits(words []*word) *ban {
	for i, w := range words[1:] {
		if w.begins || w.text != "" && w.text[0] == '-' && !w.whole || strings.HasPrefix(words[i].text, "-") && strings.HasSuffix(words[i].text, "p") {
			w.no = banName
		}
	}
	return nil
}

// jobs judges jobs: -x runs a command.
func (s *scan) jobs(words []*word) *ban {
	if len(words) > 2 && words[1].is("-x") {
		return s.external(words[2:])
	}
	return nil
}

// changes notes the folder that cd goes to.
func (s *scan) changes(words []*word) *ban {
	s.goes(words[1:])
	return nil
}

// runuser is su, but that with -u it runs a command: runuser(1).
func (s *scan) runuser(words []*word) *ban {
	j := &judge{scan: s, tool: tables().tools["su"], name: "runuser"}
	for _, w := range words[1:] {
		if strings.HasPrefix(w.text, "-u") || strings.HasPrefix(w.text, "--user") {
			j.tool = tables().tools["runuser"]
		}
	}
	return j.command(words[1:])
}

// mlr judges each verb of a chain: miller.readthedocs.io, then.
func (s *scan) mlr(words []*word) *ban {
	for from, i := 1, 1; i <= len(words); i++ {
		if i == len(words) || words[i].is("then") {
			j := &judge{scan: s, tool: tables().tools["mlr"], name: "mlr"}
			j.command(words[from:i])
			from = i + 1
		}
	}
	return nil
}

// printf takes a name behind -v, and then the format.
func (s *scan) printf(words []*word) *ban {
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case strings.HasPrefix(w.text, "-v"):
			w.no = banName
			if w.is("-v") && i+1 < len(words) {
				i++
				words[i].no = banName
			}
			continue
		case w.is("--"):
			continue
		}
		w.no = banFormat
		return nil
	}
	return nil
}

// bracket is test and [. Bash reads the name behind -v and -R as it reads arithmetic; of two values in a row, the first
// could be that option.
func (s *scan) bracket(words []*word) *ban {
	for _, w := range words[1:] {
		if s.dialect == Bash && w.node != nil && slices.ContainsFunc(w.node.Parts, func(p syntax.WordPart) bool { return len(s.mentioned(p)) > 0 && !isQuoted(p) }) {
			w.no = banUnquoted
		}
	}
	for i := 2; i < len(words); i++ {
		before := words[i-1]
		if before.text == "-v" || before.text == "-R" || before.text == "-" && before.holds || before.begins && words[i].begins {
			words[i].no = banName
		}
	}
	return nil
}

func isQuoted(p syntax.WordPart) bool {
	_, quoted := p.(*syntax.DblQuoted)
	return quoted
}

// tests are the tests of find that take a word: find(1) EXPRESSION.
var tests = set("-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer " +
	"-newermt -newerat -newerct -user -group -uid -gid -perm -maxdepth -mindepth -links -inum -samefile -fstype -printf -used -context")

// find takes commands behind -exec and its kin. A word that begins with a value could be one of these, or -delete.
func (s *scan) find(words []*word) *ban {
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w.is("-exec") || w.is("-execdir") || w.is("-ok") || w.is("-okdir"):
			end := i + 1
			for end < len(words) && !words[end].is(";") && !words[end].is("+") {
				end++
			}
			s.external(words[i+1 : end])
			i = end
		case (w.begins || w.holds && w.text == "-") && !(words[i-1].whole && tests[words[i-1].text]):
			w.no = banOption("find", "Go there first:  cd -- {value} && find . …, or put ./ before it.")
		}
	}
	return nil
}

// readNames judges read: names, but not behind -p, -d and -i.
func (s *scan) readNames(words []*word) *ban {
	for i := 1; i < len(words); i++ {
		w := words[i]
		at := strings.IndexAny(w.text, "pdi")
		if !strings.HasPrefix(w.text, "-") || at < 0 || strings.ContainsAny(w.text[:at], "aunNt") {
			w.no = banName
		} else if w.whole && at == len(w.text)-1 {
			i++
		}
	}
	return nil
}

// commandOf judges command: with -v or -V it says what a name is, and runs nothing.
func (s *scan) commandOf(words []*word) *ban {
	if len(words) > 1 && words[1].whole && set("-v -V -pv -pV")[words[1].text] {
		return nil
	}
	j := &judge{scan: s, tool: tables().tools["command"], name: "command"}
	return j.command(words[1:])
}
