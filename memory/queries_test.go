package memory

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

// Lines end as editors end them; one that is too long is refused, and the next one is read.
func TestReadLine(t *testing.T) {
	const most = 100
	long, longest := strings.Repeat("x", most+1), strings.Repeat("y", most)
	r := bufio.NewReaderSize(strings.NewReader("\ufeffone\r\n\n"+long+"\n"+strings.Repeat("z", 3*most)+"\r\n"+longest+"\r\nlast"), 16)
	for _, want := range []string{"one", "", "!", "!", longest, "last"} {
		line, err := readLine(r, most)
		if want == "!" {
			if !errors.Is(err, errLong) {
				t.Errorf("a long line is %q, %v", line, err)
			}
		} else if string(line) != want || err != nil {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	if line, err := readLine(r, most); err != io.EOF {
		t.Errorf("after the end: %q, %v", line, err)
	}
	if line, err := readLine(bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 5*most)), 16), most); !errors.Is(err, errLong) {
		t.Errorf("a long line without an end: %q, %v", line, err)
	}
}

func TestReadQuery(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"0","query":"a"}`: "a", `{"query":"b","note":1}`: "b", `{"id":"0","query":" "}`: "", `{"id":"0"}`: "", `{`: "", `[]`: "", `{"query":1}`: "",
		"{\"query\":\"\xff\"}": "", `{"id":"0","query":"a"} x`: "",
	} {
		if q, err := readQuery([]byte(line)); (err == nil) != (want != "") || err == nil && q.Query != want {
			t.Errorf("%s: %+v, %v", line, q, err)
		}
	}
}
