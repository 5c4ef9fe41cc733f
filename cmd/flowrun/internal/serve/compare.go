package serve

import (
	"context"
	"net/http"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/standalone"
	"github.com/flowrun/flowrun/runner/view"
)

// CompareRuns says what run b differs in from run a. With all it lists the nodes that do not differ, too.
func CompareRuns(ctx context.Context, s *standalone.Store, a, b engine.Info, all bool) (view.Comparison, error) {
	var docs [2]view.Document
	var programs [2]*ir.Program
	for i, info := range []engine.Info{a, b} {
		past, err := s.Past(ctx, info.Run)
		if err == nil {
			err = past.Replay(ctx, nil)
		}
		if err != nil {
			return view.Comparison{}, err
		}
		s.Stand(past, info, nil)
		docs[i], programs[i] = past.View.Document(), past.Program.Program
	}
	d := ir.Compare(programs[0], docs[0].Workflow, programs[1], docs[1].Workflow)
	return view.Compare(&docs[0], &docs[1], d, all), nil
}

// compare compares the run of the path with another one.
func (s *Server) compare(r *http.Request) (any, error) {
	b, err := s.info(r)
	if err != nil {
		return nil, err
	}
	all, err := readFlag(r, "all")
	if err != nil {
		return nil, err
	}
	r.SetPathValue("run", r.URL.Query().Get("with"))
	a, err := s.info(r)
	if err != nil {
		return nil, err
	}
	return CompareRuns(r.Context(), s.daemon.store, a, b, all)
}
