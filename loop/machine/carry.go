package machine

import (
	"encoding/json"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// leftWork is an item whose run waits for a person when the run of the loop ends. The next run of the loop goes on with it.
type leftWork struct {
	Source string                 `json:"source"`
	Item   value.Value            `json:"item"`
	Agent  string                 `json:"agent"`
	Token  uint64                 `json:"token"`
	Run    string                 `json:"run"`
	Does   string                 `json:"workflow"`
	Inputs map[string]value.Value `json:"inputs,omitempty"`
}

// leave lists the parked items for the next run of the loop; nil: there is none.
func (m *Machine) leave() value.Value {
	var list []leftWork
	for _, w := range m.work {
		if w.parked && w.stage == working && !w.lost {
			list = append(list, leftWork{w.source.Name, w.item.Object(), w.agent.Name, w.token, w.child.Run, w.child.Workflow, w.child.Inputs})
		}
	}
	if list == nil {
		return nil
	}
	text, err := json.Marshal(list)
	if err == nil {
		var v value.Value
		if v, err = value.Decode(text); err == nil {
			return v
		}
	}
	return nil
}

// adopt takes over the parked items of the run of the loop before this one. What does not fit the program any more is left.
func (m *Machine) adopt() {
	var list []leftWork
	if m.run.Loop == nil || m.run.Loop.Carry == nil || json.Unmarshal(value.Append(nil, m.run.Loop.Carry), &list) != nil {
		return
	}
	for i := range list {
		l := &list[i]
		item, err := event.ItemOf(l.Item)
		w := &work{item: item, token: l.Token, stage: working, since: m.now}
		for _, s := range m.sources {
			if s.Name == l.Source {
				w.source = s
			}
		}
		for _, a := range m.agents {
			if a.Name == l.Agent {
				w.agent = a
			}
		}
		if err != nil || w.source == nil || w.agent == nil || m.graph.Program.Workflow(l.Does) == nil {
			m.warn("", "item "+item.ID+" waits for a person, and the loop does not have its source, agent or workflow any more: its claim stays")
			continue
		}
		w.key, w.path, w.mark = w.source.itemKey(item.ID), nodePath(item.ID), mark(&item)
		w.child = &event.StartChild{Run: l.Run, Node: w.path, Workflow: l.Does, Inputs: l.Inputs, Cause: &event.Cause{Kind: event.CauseLoop, Name: m.loop.Name, ID: item.ID, Events: m.run.Events()}}
		m.work = append(m.work, w)
		w.agent.busy++ // until it is known that the run still waits
		m.do(event.Command{StartChild: w.child})
		m.renew(w)
		m.beatSoon()
		m.show(event.Transition{Node: w.path, From: event.Pending, To: event.Waiting, Attempt: 1, Name: item.ID, Reason: "its run waits for a person",
			WaitsFor: &event.WaitsFor{Kind: event.WaitChild, Name: l.Run}})
	}
}
