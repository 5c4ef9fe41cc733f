package runner

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
