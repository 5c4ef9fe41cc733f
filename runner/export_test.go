package runner

import "context"

// Enter makes a run part of the tree of a root, and opens the session of the tree as a drive of the run by Drive does. leave is the
// end of that drive.
func (s *Service) Enter(ctx context.Context, run, root string) (leave func(), err error) {
	s.mu.Lock()
	s.addToTree(root, root)
	s.addToTree(run, root)
	s.mu.Unlock()
	t, err := s.enterTree(ctx, run, false)
	return func() { s.leaveDrive(t, run, false) }, err
}

// Sessions is how many sessions are open.
func (s *Service) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[*Session]bool{}
	for _, t := range s.trees { // any order: it counts
		if t.session != nil {
			open[t.session] = true
		}
	}
	return len(open)
}

// Trees is how many trees of runs the service knows.
func (s *Service) Trees() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[*tree]bool{}
	for _, t := range s.trees { // any order: it counts
		known[t] = true
	}
	return len(known)
}
