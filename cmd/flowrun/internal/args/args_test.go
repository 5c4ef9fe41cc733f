package args

import (
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"
)

func world(stdin string) *World {
	return &World{Stdin: strings.NewReader(stdin), ReadFile: func(name string, _ int64) ([]byte, error) {
		switch name {
		case "f":
			return []byte("from f\n"), nil
		case "big":
			return make([]byte, MaxFile+1), nil
		case "fits":
			return make([]byte, MaxFile), nil
		}
		return nil, fs.ErrNotExist
	}}
}

func TestPairs(t *testing.T) {
	p := Pairs{Values: []string{"a=1=2", "b=@f", "c=-", "d=@@x", "e="}, Raw: []string{"r=@f", "s=-", "u=@@x"}, From: []string{"v=f"}}
	have, err := p.Read("--input", world("typed"))
	want := []Pair{{"a", "1=2", "--input"}, {"b", "from f\n", "--input @f"}, {"c", "typed", "--input"}, {"d", "@x", "--input"}, {"e", "", "--input"},
		{"r", "@f", "--input"}, {"s", "-", "--input"}, {"u", "@@x", "--input"}, {"v", "from f\n", "--input @f"}}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%v, %v", have, err)
	}
	p = Pairs{Values: []string{"a=@fits"}}
	if _, err := p.Read("--var", world("")); err != nil {
		t.Error(err)
	}
}

// In CI no text of somebody else reads a file or standard input, unless the flag says so; what would have been read is noted.
func TestPlainPairs(t *testing.T) {
	var notes []string
	w := world("typed")
	w.Plain, w.Note = "CI", func(text string) { notes = append(notes, text) }
	p := Pairs{Values: []string{"a=@f", "b=-", "c=@@x", "d=x@f", "e=@"}, Raw: []string{"r=@f"}, From: []string{"v=f", "w=-"}}
	have, err := p.Read("--input", w)
	want := []Pair{{"a", "@f", "--input"}, {"b", "-", "--input"}, {"c", "@@x", "--input"}, {"d", "x@f", "--input"}, {"e", "@", "--input"},
		{"r", "@f", "--input"}, {"v", "from f\n", "--input @f"}, {"w", "typed", "--input"}}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%v, %v", have, err)
	}
	if len(notes) != 4 || strings.Contains(strings.Join(notes, " "), "@f") || !strings.Contains(notes[0], "--input-from a=FILE") {
		t.Errorf("%q", notes)
	}
}

func TestPairsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string
	}{
		{[]string{"a"}, `--var is not of the form name=value`},
		{[]string{"a=1", "hunter22"}, `--var number 2 is not of the form name=value`},
		{[]string{"=a"}, `not of the form`},
		{[]string{"a=1", "a=2"}, `gives "a" twice`},
		{[]string{"a=-", "b=-"}, `reads standard input twice`},
		{[]string{"a=@none"}, `file does not exist`},
		{[]string{"a=@big"}, `larger than 1048576 bytes`},
		{[]string{"a=-"}, `larger than`},
		{[]string{"a=@"}, `the name of a file is missing`},
		{[]string{"a=@hunter22"}, `--var-raw`},
		{[]string{"a=\xff"}, `--var a is not UTF-8`},
	} {
		stdin := ""
		if strings.HasPrefix(c.want, "larger than") {
			stdin = strings.Repeat("x", MaxFile+1)
		}
		p := Pairs{Values: c.given}
		_, err := p.Read("--var", world(stdin))
		var usage *Error
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%v: %v", c.given, err)
		}
	}
}

func TestPairsOfFilesThatAreWrong(t *testing.T) {
	for want, p := range map[string]Pairs{
		`--var gives "a" twice`: {Values: []string{"a=1"}, Raw: []string{"a=2"}}, `gives "b" twice`: {Raw: []string{"b=1"}, From: []string{"b=f"}},
		"--var-from a: file does not exist": {From: []string{"a=none"}}, "--var-from a: the name of a file is missing": {From: []string{"a="}},
		"reads standard input twice": {Values: []string{"a=-"}, From: []string{"b=-"}}, "--var-raw is not of the form": {Raw: []string{"hunter22"}},
	} {
		if _, err := p.Read("--var", world("")); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// Inputs and variables share one standard input.
func TestStandardInputIsReadOnce(t *testing.T) {
	w := world("typed")
	first, second := Pairs{Values: []string{"a=-"}}, Pairs{From: []string{"b=-"}}
	if have, err := first.Read("--var", w); err != nil || have[0].Text != "typed" {
		t.Errorf("%v, %v", have, err)
	}
	if have, err := second.Read("--input", w); err == nil || !strings.Contains(err.Error(), "reads standard input twice") {
		t.Errorf("%v, %v", have, err)
	}
}

func TestRunsThatAreWrong(t *testing.T) {
	for want, r := range map[string]interface{ Check() error }{
		"--reason":            &Cancel{Reason: "\xff"},
		"--timeout -1s":       &Cancel{Timeout: -time.Second, Wait: true},
		"--timeout is for":    &Cancel{Timeout: time.Second},
		"--death-limit":       &Resume{Drive: Drive{DeathLimit: -1}},
		"--death-limit -2":    &Retry{Drive: Drive{DeathLimit: -2}},
		"--from and --only":   &Retry{From: "a", Only: "b"},
		"--since -1 is below": &Events{Since: -1},
		"--at -1 is below":    &Show{At: -1},
		"--parallel 10001":    &Apply{Parallel: MaxParallel + 1},
		"--death-limit -3":    &Apply{Drive: Drive{DeathLimit: -3}},
	} {
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, r := range []interface{ Check() error }{&Cancel{}, &Cancel{Wait: true, Timeout: 1}, &Resume{}, &Retry{From: "a"}, &Events{}, &Show{}, &Apply{Parallel: MaxParallel}} {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestOneOf(t *testing.T) {
	if OneOf("--color", "auto", "auto", "never") != nil || OneOf("--color", "red", "auto", "never") == nil {
		t.Error("wrong")
	}
}
