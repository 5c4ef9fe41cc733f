package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/loop/schedule"
)

func (a *app) newRoutinesNextCommand() *cobra.Command {
	var r args.RoutinesNext
	c := &cobra.Command{
		Use: "next [NAME]", Short: "Print the next times of a routine or a schedule", Args: between(0, 1, "[NAME | --cron SCHEDULE]"),
		Long: `next prints the times at which a registered routine or a schedule is due, one on each line, with the offset of the schedule's time zone. With --json it prints one array.

A schedule has five fields, each a "*", a number, a range 1-5, a step */15 or 8-18/2, or a list of them: minute, hour, day of the month, month (JAN to DEC) and day of the
week (SUN to SAT; 0 and 7 are Sunday). If one of the two day fields begins with "*", both must match; otherwise one is enough. @hourly, @daily, @midnight, @weekly,
@monthly, @yearly, @annually and "@every 15m" replace a whole schedule.

A time that does not exist, because clocks are put forward, is due once at the first minute after the gap. A time that comes twice is due the first time. A schedule whose
minute or hour begins with "*", and @every, follow real time instead.`,
		RunE: func(_ *cobra.Command, names []string) error {
			if len(names) > 0 {
				r.Name = names[0]
			}
			if err := r.Check(time.Now()); err != nil {
				return err
			}
			return a.runRoutinesNext(&r)
		},
	}
	f := c.Flags()
	f.StringVar(&r.Cron, "cron", "", "the `schedule`; CRON_TZ=ZONE may come first")
	f.StringVar(&r.Timezone, "timezone", "", "the time `zone` of the schedule, like Europe/Berlin (default: UTC)")
	f.StringVar(&r.From, "from", "", "only times after this `time`, like 2026-11-02T08:00:00Z (default: now)")
	f.IntVarP(&r.Count, "count", "n", 10, "the `number` of times")
	f.BoolVar(&r.JSON, "json", false, "as JSON")
	return c
}

func (a *app) runRoutinesNext(r *args.RoutinesNext) error {
	s, err := a.scheduleOfRoutinesNext(r)
	if err != nil {
		return err
	}
	moments := serve.Moments(s, r.After, r.Count)
	switch {
	case len(moments) == 0:
		return args.Errorf("%q is not due within %d years", r.Cron+r.Name, schedule.Horizon)
	case r.JSON:
		return ui.WriteJSON(a.out, moments)
	}
	for _, m := range moments {
		a.out.Printf("%s\n", m)
	}
	return nil
}

func (a *app) scheduleOfRoutinesNext(r *args.RoutinesNext) (schedule.Schedule, error) {
	if r.Name == "" {
		return parseRoutinesNext(r)
	}
	found, err := a.findRoutine(r.Name)
	if err != nil {
		return schedule.Schedule{}, err
	}
	s, _, err := serve.ScheduleOf(found)
	return s, err
}

// parseRoutinesNext points at what is wrong with a schedule.
func parseRoutinesNext(r *args.RoutinesNext) (schedule.Schedule, error) {
	if r.Timezone != "" {
		if e := schedule.UnknownZone(r.Timezone); e != nil {
			return schedule.Schedule{}, &args.Error{Message: "--timezone: " + e.Message, Hint: e.Hint}
		}
	}
	s, err := schedule.Parse(r.Cron, r.Timezone)
	var e *schedule.Error
	if !errors.As(err, &e) {
		return s, err
	}
	before, marked := []rune(r.Cron[:e.Start]), []rune(r.Cron[e.Start:e.End])
	picture := fmt.Sprintf("\n  %s\n  %s%s", ui.Clean(r.Cron), strings.Repeat(" ", len(before)), strings.Repeat("^", max(1, len(marked))))
	return s, &args.Error{Message: "--cron: " + e.Message + picture, Hint: e.Hint}
}
