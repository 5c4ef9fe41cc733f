package local

import (
	"os"
	"strconv"
	"strings"
)

// newLook returns a function that looks at the machine. The load of the processors is that since the call before.
func newLook() func() Figures {
	busy, total := readStat()
	return func() (f Figures) {
		b, t := readStat()
		if t > total {
			cpu := 100 * float64(b-busy) / float64(t-total)
			f.CPU = &cpu
		}
		busy, total = b, t
		f.Memory = readMemory()
		return f
	}
}

// readStat returns the time that the processors were busy, and all time, in ticks, from /proc/stat; 0 if it cannot be read. Time of
// guests is part of user and nice there.
func readStat() (busy, total uint64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return parseStat(line)
}

// parseStat reads the first line of /proc/stat: cpu, and the ticks of user, nice, system, idle, iowait, irq, softirq and steal.
func parseStat(line string) (busy, total uint64) {
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return 0, 0
	}
	for i, f := range fields[1:min(len(fields), 9)] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, 0
		}
		if total += n; i != 3 && i != 4 { // idle, iowait
			busy += n
		}
	}
	return busy, total
}

// readMemory returns how much of the memory is in use, from /proc/meminfo; nil if that cannot be read.
func readMemory() *float64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return nil
	}
	return parseMemory(string(text))
}

func parseMemory(text string) *float64 {
	figure := func(name string) float64 {
		_, after, _ := strings.Cut(text, name+":")
		fields := strings.Fields(after)
		if len(fields) == 0 {
			return -1
		}
		n, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return -1
		}
		return n
	}
	total, free := figure("MemTotal"), figure("MemAvailable")
	if total <= 0 || free < 0 {
		return nil
	}
	used := 100 * (total - free) / total
	return &used
}
