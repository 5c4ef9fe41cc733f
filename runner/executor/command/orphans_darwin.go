package command

// orphans are adopted on Linux alone. Here a process that leaves its group lives on.
var orphans orphanage

type orphanage struct{}

func (orphanage) adopt()     {}
func (orphanage) birth()     {}
func (orphanage) born(int)   {}
func (orphanage) over(int)   {}
func (orphanage) end(string) {}
func (orphanage) enter()     {}
func (orphanage) leave()     {}

// killMarked finds nobody: no process is shown another's environment.
func killMarked(string) int { return 0 }

// groupRuns tells nothing that kill(2) has not told: the dead are reaped at once by launchd.
func groupRuns(int) bool { return true }

// leftovers finds nobody.
func leftovers(string, string) []int { return nil }

// dies knows of nobody either.
func dies(int) bool { return false }
