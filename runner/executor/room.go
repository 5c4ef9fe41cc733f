package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// What a driver and its attempts take of what the system allows a process: counted in /proc/PID/fd and /proc/PID/task of apply and
// of its guardian, with some to spare. The sessions that run many steps at the bound (TestFewDescriptors, TestFewProcesses) find
// numbers that are too small.
const (
	// driverDescriptors is what a driver opens besides what it has open at its start: the store and its memory with four readers
	// each, locks, logs that are followed.
	driverDescriptors = 30
	// attemptDescriptors is what an attempt holds: three pipes, a pipe to wake it, its process, and two logs.
	attemptDescriptors = 12
	// driverTasks is how many threads a driver makes besides those at its start, and its guardian with all of its own.
	driverTasks = 18
	// attemptTasks is an attempt's thread, a shell, and two programs that it starts. What these start is not ours to know.
	attemptTasks = 4
	// scarceTasks is how many processes and threads must be free for nobody to count them.
	scarceTasks = 1000
)

// Room is how many attempts can be under way at once, as far as the system allows descriptors, processes and threads. Attempts
// that find no room wait for it and do not fail. A nil Room has no end.
type Room struct {
	turns chan struct{}
	why   error
}

// Enter waits for room. It reports false if ctx is done first. tell, if set, hears once why it takes so long.
func (r *Room) Enter(ctx context.Context, tell func(error)) bool {
	if r == nil {
		return true
	}
	select {
	case r.turns <- struct{}{}:
		return true
	default:
	}
	if tell != nil {
		defer time.AfterFunc(scarceTell, func() { tell(r.why) }).Stop()
	}
	select {
	case r.turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Leave gives the room back that Enter took.
func (r *Room) Leave() {
	if r != nil {
		<-r.turns
	}
}

// Supply is what the system allows this process.
type Supply struct {
	Descriptors, DescriptorsUsed int // the limit, and how many are open
	// Tasks is the limit of processes and threads, TasksUsed how many there are of those that it counts, and TasksBy the limit's
	// name. "" is: there is none, or it is far away.
	Tasks, TasksUsed int
	TasksBy          string
}

// MakeRoom looks at what the system allows, and makes room for attempts within it. The error says that there is none for even one,
// what the limit is, and how it is raised; then the room is for one attempt, which may wait long. It is called once, before a driver opens
// anything.
//
// Where threads are scarce it makes at once all that will be needed: Go ends the whole process, unasked, when it cannot have one
// more, and later those that the steps start may have taken all.
func MakeRoom() (*Room, error) {
	s := supply()
	n, err := s.attempts(min(runtime.GOMAXPROCS(0), scarceCPUs))
	if err != nil {
		return newRoom(1, s), err
	}
	if n == 0 {
		return nil, nil
	}
	if s.TasksBy != "" {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), scarceCPUs))
		makeThreads(n + driverThreads)
	}
	return newRoom(n, s), nil
}

func newRoom(n int, s Supply) *Room {
	why := fmt.Sprintf("%d at once fit into the %d file descriptors of this process (ulimit -n)", n, s.Descriptors)
	if s.TasksBy != "" {
		why = fmt.Sprintf("at most %d at once fit into the limits of this process: %s allows %d processes and threads", n, s.TasksBy, s.Tasks)
		if s.Descriptors > 0 {
			why += fmt.Sprintf(", ulimit -n %d file descriptors", s.Descriptors)
		}
	}
	return &Room{make(chan struct{}, n), errors.New(why)}
}

const (
	// scarceCPUs is how many processors a driver uses where threads are scarce: Go makes a thread for each.
	scarceCPUs = 4
	// driverThreads is how many threads a driver needs at most, besides one for each attempt.
	driverThreads = 10
	// manyAttempts need no bound: a machine does not ask for more.
	manyAttempts = 4096
)

// attempts is for how many there is room; 0 is: as many as there may be.
func (s Supply) attempts(cpus int) (n int, err error) {
	n = manyAttempts
	if s.Descriptors > 0 {
		free := s.Descriptors - s.DescriptorsUsed
		n = min(n, (free-driverDescriptors)/attemptDescriptors)
		if need := driverDescriptors + attemptDescriptors; free < need {
			return 0, fmt.Errorf("too few file descriptors: this process may have %d, and a run takes at least %d\nAllow more with:  ulimit -n 1024",
				s.Descriptors, s.DescriptorsUsed+need)
		}
	}
	if s.TasksBy != "" {
		free := s.Tasks - s.TasksUsed - cpus
		n = min(n, (free-driverTasks)/attemptTasks)
		if need := driverTasks + attemptTasks; free < need {
			fix := "ulimit -u 1024"
			if s.TasksBy != byUser {
				fix = "docker run --pids-limit 1024, or systemctl set-property UNIT TasksMax=1024"
			}
			return 0, fmt.Errorf("too few processes: %s allows %d processes and threads, of which %d are in use, and a run takes at least %d more\nAllow more with:  %s",
				s.TasksBy, s.Tasks, s.TasksUsed, need+cpus, fix)
		}
	}
	if n == manyAttempts {
		return 0, nil
	}
	return n, nil
}

// byUser is the name of the limit on a user's processes.
const byUser = "the limit of this user (ulimit -u)"

func supply() (s Supply) {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil && l.Cur < 1<<20 {
		s.Descriptors = int(l.Cur)
		if names, err := readNames("/dev/fd"); err == nil {
			s.DescriptorsUsed = len(names) - 1 // one of them is the list's
		}
	}
	s.Tasks, s.TasksUsed, s.TasksBy = tasks()
	return s
}

func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// makeThreads makes Go have so many threads. It never gives one back.
func makeThreads(n int) {
	var here, there sync.WaitGroup
	release := make(chan struct{})
	here.Add(n)
	for range n {
		there.Go(func() {
			runtime.LockOSThread() // for which a waiting goroutine keeps its thread
			defer runtime.UnlockOSThread()
			here.Done()
			<-release
		})
	}
	here.Wait()
	close(release)
	there.Wait()
}
