package protocol

import (
	"fmt"
	"testing"
	"time"
)

// An agent says after which time, or at which moment, it can be asked again.
func TestWhenToComeBack(t *testing.T) {
	now := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	soon := now.Add(time.Hour)
	for _, c := range []struct {
		said        string
		least, most float64 // seconds
	}{
		{`"retry_after":30`, 30, 30},
		{fmt.Sprintf(`"retry_at":%q`, soon.Format(time.RFC3339)), 3600, 3600},
		{fmt.Sprintf(`"retry_at":%d`, soon.Unix()), 3600, 3600},
		{`"retry_after":30,"retry_at":"2026-01-31T08:00:00Z"`, 30, 30},
		{`"retry_at":"2020-01-31T08:00:00Z"`, 0, 0},
		{`"retry_at":"soon"`, 0, 0},
		{`"retry_at":-5`, 0, 0},
	} {
		l := Lines{Now: func() time.Time { return now }}
		l.Write([]byte(`{"type":"error","kind":"rate_limited","message":"m",` + c.said + "}\n"))
		e := l.End()
		if e == nil || e.RetryAfter < c.least || e.RetryAfter > c.most {
			t.Errorf("%s: %+v", c.said, e)
		}
	}
}
