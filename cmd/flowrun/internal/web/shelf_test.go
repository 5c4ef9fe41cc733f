package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// polled is the data of a page that shows more than the store.
type polled struct{}

func (polled) polls() bool { return true }

// TestDrawnOnce: pages that are open share a drawing until the store changes or another page is opened, and no drawing fails for two.
func TestDrawnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamp, drawn atomic.Int64
		var data any
		var fails error
		p := &Pages{pulse: newPulse(func() string { return fmt.Sprint(stamp.Load()) }), now: time.Now,
			templates: map[string]*template.Template{"x": template.Must(template.New("base.html").Parse("drawing {{.Data}} of {{.Self}}"))}}
		v := &route{pattern: "GET /x", page: "x", live: true, data: func(_ *Pages, _ http.ResponseWriter, r *http.Request) (any, error) {
			n := drawn.Add(1)
			time.Sleep(10 * time.Millisecond)
			if err := fails; err != nil {
				fails = nil
				return nil, err
			}
			if data != nil {
				return data, r.Context().Err()
			}
			return n, r.Context().Err()
		}}
		// open asks for a page n times at once, and returns the drawings.
		open := func(n int, path, by string) (seen map[string]int) {
			t.Helper()
			var all sync.WaitGroup
			var mu sync.Mutex
			seen = map[string]int{}
			for range n {
				all.Go(func() {
					r := httptest.NewRequest("GET", path, nil)
					r.AddCookie(&http.Cookie{Name: byCookie, Value: by})
					s, err := p.drawOnce(httptest.NewRecorder(), r, v)
					text := fmt.Sprint(err)
					if err == nil {
						text = string(s.body)
					}
					mu.Lock()
					defer mu.Unlock()
					seen[text]++
				})
			}
			all.Wait()
			return seen
		}
		want := func(what string, seen map[string]int, drawings ...int64) {
			t.Helper()
			if len(seen) != len(drawings) {
				t.Errorf("%s: the pages are %v", what, seen)
			}
			for _, n := range drawings {
				if seen[fmt.Sprintf("drawing %d of /x", n)] == 0 {
					t.Errorf("%s: the pages are %v, without drawing %d", what, seen, n)
				}
			}
		}
		want("nobody looks at the store", open(2, "/x", ""), 1, 2)
		leave := p.pulse.join()
		want("pages that are open", open(20, "/x", ""), 3)
		want("a page some time later", open(1, "/x", ""), 3)
		if seen := open(2, "/x?page=2", ""); seen["drawing 4 of /x?page=2"] != 2 {
			t.Errorf("another page: %v", seen)
		}
		want("the page of somebody else", open(2, "/x", "ann"), 5)
		stamp.Add(1)
		time.Sleep(pulseEvery + restAfter)
		synctest.Wait()
		want("after a change", open(2, "/x", ""), 6)
		p.pulse.join()()
		want("after another page was opened, which may be newer", open(2, "/x", ""), 7)

		stamp.Add(1)
		time.Sleep(maxRest)
		fails = errors.New("broken")
		if seen := open(3, "/x", ""); seen["broken"] != 1 || seen["drawing 9 of /x"] != 2 {
			t.Errorf("a drawing that fails: %v", seen)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stamp.Add(1)
		time.Sleep(maxRest)
		go func() {
			_, _ = p.drawOnce(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/x", nil), v) // the page is closed
		}()
		synctest.Wait()
		cancel()
		want("the page that is drawn is closed", open(2, "/x", ""), 11)
		data = polled{}
		stamp.Add(1)
		time.Sleep(maxRest)
		before := drawn.Load()
		open(1, "/x", "")
		open(1, "/x", "")
		if n := drawn.Load() - before; n != 2 {
			t.Errorf("a page that shows more than the store is drawn %d times for 2 requests", n)
		}
		leave()
		p.pulse.close()
	})
}

// TestRest: beats are so far apart that pages are drawn for a twentieth of the time, and a change that comes meanwhile is told after that.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stamp atomic.Int64
		p := newPulse(func() string { return fmt.Sprint(stamp.Load()) })
		leave := p.join()
		for _, c := range []struct{ draws, least, most time.Duration }{
			{0, restAfter, restAfter + pulseEvery},
			{30 * time.Millisecond, 600 * time.Millisecond, 600*time.Millisecond + pulseEvery},
			{time.Second, maxRest, maxRest + pulseEvery},
			{8 * time.Second, maxRest, maxRest + pulseEvery}, // it does not end before the next one
		} {
			time.Sleep(2 * maxRest)
			changed := p.next()
			stamp.Add(1)
			<-changed
			began := time.Now()
			go func() {
				end := p.draw()
				time.Sleep(c.draws)
				end()
			}()
			changed = p.next()
			stamp.Add(1)
			<-changed
			if rest := time.Since(began); rest < c.least || rest > c.most {
				t.Errorf("after a drawing of %s the next beat is %s later", c.draws, rest)
			}
		}
		leave()
		time.Sleep(time.Minute)
	})
}
