package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// sessions is an agent of the Agent Client Protocol that can load sessions. It keeps each in a file of its folder, and works on the first turn of a session
// until it is killed.
func sessions() {
	in, dir := bufio.NewScanner(os.Stdin), ""
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Cwd       string
				SessionID string `json:"sessionId"`
			}
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		if m.Params.Cwd != "" {
			dir = m.Params.Cwd
		}
		answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		switch m.Method {
		case "initialize":
			answer(`{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
		case "session/new":
			list, _ := filepath.Glob(filepath.Join(dir, "*.session"))
			answer(fmt.Sprintf(`{"sessionId":"s%d"}`, len(list)+1))
		case "session/load":
			answer(`null`)
		case "session/prompt":
			file := filepath.Join(dir, m.Params.SessionID+".session")
			if _, err := os.Stat(file); err != nil {
				_ = os.WriteFile(file, nil, 0o600)
				time.Sleep(time.Minute)
			}
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"went on in %s"}}}}`+"\n", m.Params.SessionID)
			answer(`{"stopReason":"end_turn"}`)
		}
	}
}
