package follow

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMarks(t *testing.T) {
	store := t.TempDir()
	dir := filepath.Join(store, Dir)
	is := func(want ...string) {
		t.Helper()
		set := map[string]bool{}
		for _, run := range want {
			set[run] = true
		}
		if have := followed(dir); !maps.Equal(have, set) {
			t.Errorf("followed are %v, and not %v", have, set)
		}
	}
	is()
	first, err := Mark(store, "a")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Mark(store, "a")
	if err != nil {
		t.Fatal(err)
	}
	third, err := Mark(store, "b")
	if err != nil {
		t.Fatal(err)
	}
	is("a", "b")
	first()
	is("a", "b")
	second()
	is("b")
	third()
	is()
}

// TestDeadMarksAreRemoved leaves a mark whose lock nobody holds, and two whose making was cut off, one just now.
func TestDeadMarksAreRemoved(t *testing.T) {
	store := t.TempDir()
	dir := filepath.Join(store, Dir)
	unmark, err := Mark(store, "alive")
	if err != nil {
		t.Fatal(err)
	}
	defer unmark()
	long := time.Now().Add(-2 * makingTime)
	for name, made := range map[string]time.Time{"dead.1": time.Now(), "old.1" + beingMade: long, "new.1" + beingMade: time.Now()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, made, made); err != nil {
			t.Fatal(err)
		}
	}
	if have := followed(dir); len(have) != 1 || !have["alive"] {
		t.Errorf("followed are %v", have)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || left[0].Name()[:6] != "alive." || left[1].Name() != "new.1"+beingMade {
		t.Errorf("%v, %v", left, err)
	}
}

// TestLookersDoNotSeeEachOther holds a mark open as one who looks does, while another looks.
func TestLookersDoNotSeeEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.1")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	for range 4 {
		go func() {
			for range 1000 {
				held(path)
			}
			over <- struct{}{}
		}()
	}
	for running := 4; running > 0; {
		select {
		case <-over:
			running--
		default:
			if held(path) {
				t.Fatal("one who looks is taken for a follower")
			}
		}
	}
}

func TestWatch(t *testing.T) {
	store := t.TempDir()
	seen := make(chan map[string]bool)
	stop := Watch(store, func(runs map[string]bool) {
		select {
		case seen <- runs:
		case <-t.Context().Done():
		}
	})
	if runs := <-seen; len(runs) > 0 {
		t.Errorf("nobody follows %v", runs)
	}
	unmark, err := Mark(store, "a")
	if err != nil {
		t.Fatal(err)
	}
	if runs := <-seen; !runs["a"] {
		t.Errorf("who follows is not seen: %v", runs)
	}
	unmark()
	if runs := <-seen; len(runs) > 0 {
		t.Errorf("still followed: %v", runs)
	}
	go func() {
		for range seen { // a look that is under way
		}
	}()
	stop()
	close(seen)
}
