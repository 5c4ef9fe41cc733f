package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings are what else could change the bytes of a binary: the flags of the person who builds have no effect.
var settings = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GORISCV64=rva20u64", "GOPPC64=power8", "GOEXPERIMENT=", "GOWORK=off"}

// outlined are packages whose functions are not inlined into each other: those that talk to servers and people, whose time is that of a network or a
// reader, and those that read a program once, which take as long without. The binary for linux/amd64 had 59.7 MB with the first lines of them and 61.1 MB with
// those of servers and people alone; version and validate of 10 and of 1,000 steps take the same time.
var outlined = []string{"go.temporal.io/...", "google.golang.org/...", "github.com/gogo/...", "github.com/nexus-rpc/...", "github.com/spf13/...",
	"github.com/modelcontextprotocol/...", "mvdan.cc/...", "gopkg.in/...", "go.yaml.in/...", "github.com/santhosh-tekuri/...", "golang.org/x/net/...",
	"github.com/robfig/...", "github.com/yuin/...", "net/http", "crypto/tls", "crypto/x509", "net", "html/template", "text/template",
	ours + "cmd/...", ours + "loop/...", ours + "runner/engine/temporal/...", ours + "runner/executor/a2a/...", ours + "runner/executor/acp/...",
	ours + "runner/executor/chat/...", ours + "runner/executor/mcp/...", ours + "runner/executor/protocol/...",
	ours + "runner/standalone/...", ours + "runner/flowtest/...", ours + "runner/learning/...", ours + "runner/stats/...", ours + "runner/view/...",
	ours + "runner/webhook/...", ours + "dsl/check/...", ours + "dsl/core/...", ours + "dsl/editor/...", ours + "dsl/importer/...", ours + "dsl/lower/...",
	ours + "dsl/reference/...", "github.com/zclconf/...", "golang.org/x/text/...", "encoding/asn1", "encoding/xml", "mime", "mime/multipart",
	"net/http/internal/http2", "text/template/parse",
	ours + "runner/artifact/...", ours + "runner/executor/http/...", ours + "runner/executor/notify/...", ours + "runner/fleet/...",
	ours + "runner/outline/...", ours + "runner/retry/...", ours + "runner/simulate/...", ours + "runner/trace/...", ours + "dsl/shell/...", ours + "memory/learn/...",
	"github.com/google/...", "github.com/segmentio/...", "github.com/grpc-ecosystem/...", "encoding/gob", "golang.org/x/oauth2/...",
	"github.com/stretchr/...", "github.com/klauspost/...", "log/slog/...", "math/big", ours + "runner", ours + "runner/doctor", ours + "runner/engine/sim",
	ours + "runner/follow", ours + "runner/given", ours + "runner/live", ours + "runner/logs", ours + "dsl", ours + "dsl/format", ours + "dsl/schema",
	ours + "runner/forecast", ours + "runner/replay", ours + "runner/executor/command", "net/url", "regexp/syntax", ours + "memory", ours + "memory/store",
	"database/sql", ours + "runner/executor/secret", ours + "runner/judge", ours + "runner/executor/recall",
	ours + "runner/executor/benchmark", ours + "runner/admission", ours + "memory/window", ours + "memory/private/...", "os/exec",
	"net/textproto", "net/mail", "net/smtp", "net/http/httputil", "text/tabwriter", "encoding/csv", "flag", "github.com/yosida95/...", ours + "runner/scripts",
	ours + "runner/tasks", ours + "runner/watch", ours + "runner/reuse", ours + "dsl/disk"}

// ours begins the paths of our own packages.
const ours = "github.com/flowrun/flowrun/"

// lean are the flags that make the binary smaller.
func lean() (flags []string) {
	for _, packages := range outlined {
		flags = append(flags, "-gcflags="+packages+"=-l")
	}
	return flags
}

func (r *release) build(t target, to string) error {
	const app = "github.com/flowrun/flowrun/cmd/flowrun/internal/app."
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	// The tag leaves out the pages of gRPC's traces, which nothing serves.
	words := []string{"build", "-trimpath", "-tags=grpcnotrace", "-buildvcs=false", "-ldflags=-s -w -X " + app + "Release=" + r.version + " -X " + app + "commit=" + r.commit}
	words = append(words, r.flags...)
	_, err = output(r.root, append(slices.Clone(settings), "GOOS="+t.os, "GOARCH="+t.arch), "go", append(words, "-o", to, "./cmd/flowrun")...)
	return err
}

// commonFiles are what the archives of all targets have beside the program. The unit is for a user's systemd, and its instance is the folder of a
// project: systemctl --user enable --now flowrun@"$(systemd-escape -p ~/project)".
func (r *release) commonFiles(host string) (out []file, err error) {
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		out = append(out, file{name, data, 0o644})
	}
	for shell, name := range map[string]string{"bash": "flowrun.bash", "zsh": "_flowrun", "fish": "flowrun.fish"} {
		text, err := output(r.root, nil, host, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, file{"completions/" + name, []byte(text + "\n"), 0o644})
	}
	unit, err := output(r.root, nil, host, "serve", "--print-unit", "--store", "/%I/.flowrun")
	if err != nil {
		return nil, err
	}
	unit = strings.ReplaceAll(unit, host, "/usr/bin/flowrun")
	out = append(out, file{"systemd/flowrun@.service", []byte(unit + "\n"), 0o644})
	manuals, err := manuals(r.root, host)
	if err != nil {
		return nil, err
	}
	out = append(out, manuals...)
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// manuals has a program write its manual pages, and returns them.
func manuals(root, program string) (out []file, err error) {
	dir, err := os.MkdirTemp("", "flowrun-man-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := output(root, nil, program, "man", dir); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		text, err := os.ReadFile(filepath.Join(dir, p.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, file{"man/man1/" + p.Name(), text, 0o644})
	}
	return out, nil
}
