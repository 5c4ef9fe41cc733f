package reference

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/loop/schedule"
)

var scheduleRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([A-Za-z_/]+) \\| (\\d{4}-\\d\\d-\\d\\d)[^|]* \\| ([^|]+) \\|$")

// TestScheduleExamples asks the schedule for each row of the table of examples.
func TestScheduleExamples(t *testing.T) {
	text, _, ok := About("schedule")
	if !ok {
		t.Fatal("there is no topic schedule")
	}
	rows := scheduleRow.FindAllStringSubmatch(text, -1)
	if len(rows) < 11 {
		t.Errorf("%d rows, want 11 or more", len(rows))
	}
	for _, row := range rows {
		s, err := schedule.Parse(row[1], row[2])
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.ParseInLocation(time.DateOnly, row[3], s.Zone())
		if err != nil {
			t.Fatal(err)
		}
		var due []string
		for at, ok := s.Next(day.Add(-time.Second)); ok && at.Format(time.DateOnly) == row[3]; at, ok = s.Next(at) {
			due = append(due, at.Format("15:04Z07:00"))
		}
		if got := strings.Join(due, " "); got != row[4] {
			t.Errorf("%s in %s on %s: %s, and the page says %s", row[1], row[2], row[3], got, row[4])
		}
	}
}
