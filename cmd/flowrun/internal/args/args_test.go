package args

import (
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"time"
)

func world(stdin string) World {
	return World{Stdin: strings.NewReader(stdin), ReadFile: func(name string, _ int64) ([]byte, error) {
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
	have, err := Pairs("--input", []string{"a=1=2", "b=@f", "c=-", "d=@@x", "e="}, world("typed"))
	want := []Pair{{"a", "1=2", "--input"}, {"b", "from f\n", "--input @f"}, {"c", "typed", "--input"}, {"d", "@x", "--input"}, {"e", "", "--input"}}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%v, %v", have, err)
	}
	if _, err := Pairs("--var", []string{"a=@fits"}, world("")); err != nil {
		t.Error(err)
	}
}

func TestPairsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string
	}{
		{[]string{"a"}, `--var "a" is not of the form name=value`},
		{[]string{"=a"}, `not of the form`},
		{[]string{"a=1", "a=2"}, `gives "a" twice`},
		{[]string{"a=-", "b=-"}, `reads standard input twice`},
		{[]string{"a=@none"}, `file does not exist`},
		{[]string{"a=@big"}, `larger than 1048576 bytes`},
		{[]string{"a=-"}, `larger than`},
		{[]string{"a=@"}, `no file is named`},
		{[]string{"a=\xff"}, `--var a is not UTF-8`},
	} {
		stdin := ""
		if strings.HasPrefix(c.want, "larger than") {
			stdin = strings.Repeat("x", MaxFile+1)
		}
		_, err := Pairs("--var", c.given, world(stdin))
		var usage *Error
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.given, err)
		}
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
