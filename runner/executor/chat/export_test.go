package chat

import (
	"io"

	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
)

// Hear makes an answer of a body that a server sent, as Execute does.
func Hear(a *event.Attempt, body io.Reader, whole bool) event.AttemptFinished {
	ans := executor.Answer(*a)
	c := newConversation(a, a.Agent.Chat)
	said := &answer{what: "POST"}
	broken := func(err error) *event.Error { return said.cut(err.Error()) }
	read := readStream
	if whole {
		read = readWhole
	}
	err := read(dialects[c.dialect()], body, broken, said)
	if said.settle(c); err == nil {
		err = said.judge(c)
	}
	if err == nil {
		ans.Output, err = c.output(said)
	}
	ans.Usage = said.usage(a.Agent.Chat.Prices)
	if ans.Outcome = event.OK; err != nil {
		executor.Fail(&ans, err)
	}
	return ans
}
