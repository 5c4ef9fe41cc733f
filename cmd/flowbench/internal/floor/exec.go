package floor

import (
	"errors"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// programs runs /bin/true n times, parallel at once.
func programs(n, parallel int) (Report, error) {
	began := time.Now()
	var left atomic.Int64
	left.Store(int64(n))
	errs := make([]error, parallel)
	var wg sync.WaitGroup
	for i := range parallel {
		wg.Go(func() {
			for left.Add(-1) >= 0 && errs[i] == nil {
				errs[i] = exec.Command("/bin/true").Run()
			}
		})
	}
	wg.Wait()
	return Report{Wall: time.Since(began)}, errors.Join(errs...)
}
