package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/command"
)

// serveSessions is an agent that keeps its sessions in files of its folder. how is resume, load or neither; with a word more it dies in each turn: at
// once, or after a word.
func serveSessions(how string) {
	how, dies, _ := strings.Cut(how, " ")
	a := &stub{in: bufio.NewReader(os.Stdin)}
	kept := func(id string) string { return filepath.Join(a.dir, id+".session") }
	for {
		m := a.read()
		var p struct {
			SessionID string `json:"sessionId"`
			Cwd       string
			Prompt    []struct{ Text string }
		}
		_ = json.Unmarshal(m.Params, &p)
		if p.Cwd != "" {
			a.dir = p.Cwd
		}
		switch m.Method {
		case "initialize":
			a.answer(m.ID, map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{"resume": map[string]any{"sessionCapabilities": map[string]any{"resume": map[string]any{}}, "loadSession": true},
				"load": map[string]any{"loadSession": true}, "neither": map[string]any{"loadSession": false, "sessionCapabilities": map[string]any{"resume": nil}}}[how]})
		case "session/new":
			list, _ := filepath.Glob(kept("*"))
			id := fmt.Sprintf("s%d", len(list)+1)
			_ = os.WriteFile(kept(id), nil, 0o600)
			a.answer(m.ID, map[string]any{"sessionId": id})
		case "session/load", "session/resume":
			if m.Method != "session/"+how {
				a.refuse(m.ID, -32601, "no such method")
				continue
			}
			text, err := os.ReadFile(kept(p.SessionID))
			if err != nil {
				a.refuse(m.ID, -32602, "no such session")
				continue
			}
			if how == "load" {
				a.say("said before: " + string(text))
			}
			a.answer(m.ID, map[string]any{})
		case "session/prompt":
			before, _ := os.ReadFile(kept(p.SessionID))
			_ = os.WriteFile(kept(p.SessionID), append(before, "turn;"...), 0o600)
			if dies == "later" {
				a.say("half")
			}
			if dies != "" {
				os.Exit(3)
			}
			again := strings.HasPrefix(p.Prompt[0].Text, "The connection broke off")
			a.say(fmt.Sprintf("%s after %q, again %v, refused %v, task %v", p.SessionID, before, again, strings.Contains(p.Prompt[0].Text, "the work was refused"), strings.Contains(p.Prompt[0].Text, "Do it.")))
			a.answer(m.ID, map[string]any{"stopReason": "end_turn"})
		}
	}
}

// resume carries out an attempt in a folder, and gives what was kept of its session.
func resume(t *testing.T, dir, how, session string, keep error) (f event.AttemptFinished, kept, said []string) {
	t.Helper()
	programs := command.New(command.Options{})
	t.Cleanup(programs.Close)
	x := New(Options{Programs: programs, Around: executor.Around{Release: "test", Live: func(_ event.Attempt, _, text string) { said = append(said, text) },
		Session: func(_ context.Context, _ event.Attempt, session string) error {
			kept = append(kept, session)
			return keep
		}}})
	a := attempt(t, how)
	a.Argv = []string{os.Args[0], "sessions", how}
	a.Dir, a.Agent.Session = dir, session
	if strings.HasPrefix(session, "kept ") {
		a.Agent.Session, a.Agent.KeepSession, a.Agent.Feedback = strings.TrimPrefix(session, "kept "), true, "It is too short."
	}
	return x.Execute(t.Context(), a), kept, said
}

// A session that broke off goes on where the agent can, and otherwise there is a new one, which is said.
func TestSessionsGoOn(t *testing.T) {
	for _, how := range []string{"resume", "load", "neither"} {
		dir := t.TempDir()
		f, kept, _ := resume(t, dir, how+" later", "", nil)
		returns := how != "neither"
		if f.Error == nil || (f.Session == "s1") != returns || slices.Equal(kept, []string{"s1"}) != returns {
			t.Fatalf("%s: session %q, kept %q, %+v", how, f.Session, kept, f.Error)
		}
		f, kept, said := resume(t, dir, how, "s1", nil)
		want, warning := `s1 after "turn;", again true, refused false, task true`, ""
		if !returns {
			want, warning = `s2 after "", again false, refused false, task true`, "the agent cannot continue the session s1: it can neither resume nor load sessions. The task began again in a new session"
		}
		if f.Output != want || f.Stdout != want || f.Warning != warning || kept != nil || returns != slices.Contains(said, "continues the session s1") {
			t.Errorf("%s: %+v, kept %q, said %q", how, f, kept, said)
		}
		if !returns {
			continue
		}
		f, kept, _ = resume(t, dir, how, "s9", nil)
		if f.Output != `s2 after "", again false, refused false, task true` || !strings.Contains(f.Warning, "the session s9: session/"+how+": error -32602: no such session") || !slices.Equal(kept, []string{"s2"}) {
			t.Errorf("%s: a session that is gone: %+v, kept %q", how, f, kept)
		}
		if f.Session != "" {
			t.Errorf("%s: a session that nobody keeps: %q", how, f.Session)
		}
		if f, _, _ = resume(t, dir, how, "kept s1", nil); f.Session != "s1" || !strings.Contains(f.Stdout, `again false, refused true, task true`) {
			t.Errorf("%s: an agent that keeps its session: session %q, %s", how, f.Session, f.Stdout)
		}
		if f, _, _ = resume(t, dir, how+" later", "s1", nil); f.Session != "s1" {
			t.Errorf("%s: broke off again after a word: session %q", how, f.Session)
		}
		if f, _, _ = resume(t, dir, how+" once", "s1", nil); f.Session != "" {
			t.Errorf("%s: broke off again at once: session %q", how, f.Session)
		}
	}
	f, _, said := resume(t, t.TempDir(), "load", "", errors.New("the disk is full"))
	if f.Outcome != event.OK || !slices.Contains(said, "after a crash the attempt cannot continue its session: the disk is full") {
		t.Errorf("a session that cannot be kept: %+v, said %q", f, said)
	}
}
