// Command stub is both sides of an agent of type chat that uses tools: a model, and a server of tools.
//
//	go run stub.go model [PORT]   chat completions of OpenAI, on the loopback address
//	go run stub.go server         the Model Context Protocol, on standard input and output
//
// The model searches the notes for the last word of its task, reads all that it finds at once, and answers.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sort"
	"strings"
)

type object = map[string]any

func main() {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "server":
		serveTools()
	case len(os.Args) > 1 && os.Args[1] == "model":
		serveModel(append(os.Args, "8090")[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: stub model [PORT] | stub server")
		os.Exit(2)
	}
}

var notes = map[string]string{
	"tides":  "The moon raises the tides; the sun helps, or hinders.",
	"spring": "Spring tides come at new moon and at full moon.",
	"coffee": "Coffee is ground just before it is brewed.",
}

// serveTools answers requests, each a line.
func serveTools() {
	text := object{"type": "string"}
	tool := func(name, about, argument string) object {
		return object{"name": name, "description": about, "inputSchema": object{"type": "object", "properties": object{argument: text}, "required": []string{argument}}}
	}
	tools := []object{tool("search", "Finds the titles of the notes that have a word.", "query"), tool("read", "Reads a note.", "title"), tool("burn", "Burns a note.", "title")}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var ask struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Name            string
				Arguments       map[string]string
			}
		}
		if json.Unmarshal(in.Bytes(), &ask) != nil || ask.ID == nil {
			continue
		}
		answer := object{"jsonrpc": "2.0", "id": ask.ID}
		switch ask.Method {
		case "initialize":
			answer["result"] = object{"protocolVersion": "2025-06-18", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "shelf", "version": "1"}}
		case "tools/list":
			answer["result"] = object{"tools": tools}
		case "tools/call":
			text, failed := call(ask.Params.Name, ask.Params.Arguments)
			answer["result"] = object{"content": []object{{"type": "text", "text": text}}, "isError": failed}
		default:
			answer["error"] = object{"code": -32601, "message": "no method " + ask.Method}
		}
		line, _ := json.Marshal(answer)
		fmt.Println(string(line))
	}
}

func call(name string, arguments map[string]string) (text string, failed bool) {
	switch name {
	case "search":
		var found []string
		for title, note := range notes {
			if strings.Contains(strings.ToLower(note), strings.ToLower(arguments["query"])) {
				found = append(found, title)
			}
		}
		sort.Strings(found)
		return strings.Join(found, "\n"), false
	case "read":
		if note := notes[arguments["title"]]; note != "" {
			return note, false
		}
		return "there is no note " + arguments["title"], true
	}
	return "the shelf burns nothing today", true
}

// serveModel answers chat completions.
func serveModel(port string) {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Role, Content string }
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil {
			http.Error(w, "not JSON", http.StatusBadRequest)
			return
		}
		task, results := "", []string(nil)
		for _, m := range asked.Messages {
			switch m.Role {
			case "user":
				task = m.Content
			case "tool":
				results = append(results, m.Content)
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(delta object, finish any) {
			line, _ := json.Marshal(object{"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}, "usage": object{"prompt_tokens": 50 * len(asked.Messages), "completion_tokens": 20}})
			fmt.Fprintf(w, "data: %s\n\n", line)
		}
		calls := func(name, argument string, values []string) {
			for i, v := range values {
				arguments, _ := json.Marshal(object{argument: v})
				half := len(arguments) / 2
				say(object{"tool_calls": []object{{"index": i, "id": fmt.Sprint(name, i), "function": object{"name": name, "arguments": string(arguments[:half])}}}}, nil)
				say(object{"tool_calls": []object{{"index": i, "function": object{"arguments": string(arguments[half:])}}}}, nil)
			}
			say(object{}, "tool_calls")
		}
		words := strings.Fields(strings.TrimRight(strings.SplitN(task, "\n", 2)[0], "?. "))
		switch {
		case len(results) == 0 && len(words) > 0:
			calls("search", "query", words[len(words)-1:])
		case len(results) == 1 && results[0] != "":
			calls("read", "title", strings.Split(results[0], "\n"))
		default:
			titles := []string{}
			if len(results) > 1 {
				titles = strings.Split(results[0], "\n")
			}
			text, _ := json.Marshal(object{"answer": strings.Join(results[min(1, len(results)):], " "), "notes": titles})
			say(object{"content": string(text)}, "stop")
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
}
