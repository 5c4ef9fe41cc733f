package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// own holds the commands whose words have an order of their own.
var own map[string]func(*scan, []*syntax.Word, map[*syntax.Word]*ban) *ban

func init() {
	own = map[string]func(*scan, []*syntax.Word, map[*syntax.Word]*ban) *ban{
		"printf": (*scan).printf, "test": (*scan).bracket, "[": (*scan).bracket, "find": (*scan).find, "git": (*scan).git,
		".": (*scan).source, "source": (*scan).source, "enable": every(banSource), "trap": first(banEval), "eval": every(banEval), "alias": every(banEval),
		"complete": every(banEval), "compgen": every(banEval), "bind": every(banEval), "let": every(banArithmetic), "[[": every(banTest),
		"read": every(banName), "unset": every(banName), "getopts": every(banName), "mapfile": every(banName), "readarray": every(banName),
	}
	for name := range declaring { // any order: each for itself
		own[name] = func(s *scan, words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
			s.declareWords(words[1:], bans)
			return nil
		}
	}
}

// every refuses all words of a command, first all up to the first that is no option.
func every(b *ban) func(*scan, []*syntax.Word, map[*syntax.Word]*ban) *ban {
	return func(_ *scan, words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
		for _, w := range words[1:] {
			bans[w] = b
		}
		return nil
	}
}

func first(b *ban) func(*scan, []*syntax.Word, map[*syntax.Word]*ban) *ban {
	return func(s *scan, words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
		for _, w := range words[1:] {
			bans[w] = b
			if text, _ := s.literal(w); !strings.HasPrefix(text, "-") {
				break
			}
		}
		return nil
	}
}

// source runs a file, or what it reads.
func (s *scan) source(words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
	first(banSource)(s, words, bans)
	for _, w := range words[1:] {
		if text, _ := s.literal(w); readsInput[text] {
			return banInput("source")
		}
	}
	return nil
}

// printf takes a name behind -v, and then the format.
func (s *scan) printf(words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
	for i := 1; i < len(words); i++ {
		text, whole := s.literal(words[i])
		switch {
		case strings.HasPrefix(text, "-v"):
			bans[words[i]] = banName
			if text == "-v" && whole && i+1 < len(words) {
				i++
				bans[words[i]] = banName
			}
			continue
		case text == "--" && whole:
			continue
		}
		bans[words[i]] = banFormat
		return nil
	}
	return nil
}

// bracket is test and [. Bash reads the name behind -v and -R as it reads arithmetic; of two values in a row, the first
// could be that option.
func (s *scan) bracket(words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
	for i := 2; i < len(words); i++ {
		before, _ := s.literal(words[i-1])
		if before == "-v" || before == "-R" || i > 1 && s.begins(words[i-1]) && s.begins(words[i]) {
			bans[words[i]] = banName
		}
	}
	return nil
}

// find takes commands behind -exec and its kin. A word that begins with a value could be one of these.
func (s *scan) find(words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
	for i := 1; i < len(words); i++ {
		switch text, whole := s.literal(words[i]); {
		case whole && (text == "-exec" || text == "-execdir" || text == "-ok" || text == "-okdir"):
			end := i + 1
			for end < len(words) {
				if t, w := s.literal(words[end]); w && (t == ";" || t == "+") {
					break
				}
				end++
			}
			s.judge(words[i+1:end], bans)
			i = end
		case s.begins(words[i]):
			if before, _ := s.literal(words[i-1]); i == 1 || !strings.HasPrefix(before, "-") {
				bans[words[i]] = banOption("find", "Go there first:  cd -- {value} && find . …, or put ./ before it.")
			}
		}
	}
	return nil
}

// gitRuns are the commands of git with options that run programs, with the letters of those options that take a word.
var gitRuns = map[string]string{"clone": "bocj", "fetch": "jo", "pull": "jos", "push": "o", "ls-remote": "o", "archive": "o", "grep": "eABCfm", "rebase": "sX", "difftool": "t", "send-email": ""}

// git has settings that are commands, and commands that run others.
func (s *scan) git(words []*syntax.Word, bans map[*syntax.Word]*ban) *ban {
	i := 1
	for ; i < len(words); i++ {
		text, whole := s.literal(words[i])
		switch {
		case text == "-c" && i+1 < len(words):
			i++
			bans[words[i]] = banCode("git -c", "Settings such as alias.x and core.sshCommand are commands. Write the setting out.")
			continue
		case text == "-C" && whole:
			i++
			continue
		case strings.HasPrefix(text, "-"):
			if !whole && !strings.HasPrefix(text, "--git-dir=") && !strings.HasPrefix(text, "--work-tree=") {
				bans[words[i]] = banOption("git", "")
			}
			continue
		}
		break
	}
	if i >= len(words) {
		return nil
	}
	bans[words[i]] = banCommand
	name, _ := s.literal(words[i])
	s.gitCommand(name, words[i+1:], bans)
	return nil
}

func (s *scan) gitCommand(name string, words []*syntax.Word, bans map[*syntax.Word]*ban) {
	letters, runs := gitRuns[name]
	for i := 0; i < len(words); i++ {
		text, whole := s.literal(words[i])
		code := name == "rebase" && (text == "-x" || strings.HasPrefix(text, "--exec")) || name == "difftool" && text == "-x" ||
			strings.HasPrefix(text, "--upload-pack") || strings.HasPrefix(text, "--receive-pack") || name == "clone" && (text == "-u" || text == "--config") ||
			name == "submodule" && text == "foreach" || name == "bisect" && text == "run" || name == "filter-branch" || name == "grep" && strings.HasPrefix(text, "-O")
		switch {
		case code:
			for _, w := range words[i:] {
				bans[w] = banCode("git "+name, "Write the command out, and let it read the value from the environment,  env = { V = {expr} }.")
			}
			return
		case !runs:
		case text == "--" && whole:
			return
		case len(text) == 2 && text[0] == '-' && strings.Contains(letters, text[1:]):
			i++
		case s.begins(words[i]) || !whole && strings.HasPrefix(text, "-") && !strings.Contains(text, "="):
			bans[words[i]] = banOption("git "+name, "")
		}
	}
}
