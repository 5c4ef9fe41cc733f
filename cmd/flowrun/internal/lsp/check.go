package lsp

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/editor"
	"github.com/flowrun/flowrun/dsl/reference"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// A check that took longer than quick is begun when no edit has come for as long as it took, but after at most patience.
const (
	quick    = 200 * time.Millisecond
	patience = 500 * time.Millisecond
)

// checkUntil checks the folders whose texts change.
func (s *server) checkUntil(done <-chan struct{}) {
	took := time.Duration(0)
	for {
		select {
		case <-done:
			return
		case <-s.wake:
		}
		for took > quick {
			pause := time.NewTimer(min(took, patience))
			select {
			case <-done:
				pause.Stop()
				return
			case <-s.wake: // another edit
				pause.Stop()
				continue
			case <-pause.C:
			}
			break
		}
		begun := time.Now()
		for dir := s.nextStale(); dir != ""; dir = s.nextStale() {
			s.check(dir)
			select {
			case <-done:
				return
			default:
			}
		}
		took = time.Since(begun)
	}
}

// nextStale takes a folder to check; "" if there is none.
func (s *server) nextStale() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range slices.Sorted(maps.Keys(s.stale)) {
		delete(s.stale, dir)
		return dir
	}
	return ""
}

// check finds what flowrun validate says of the open texts of a folder, and sends it if no text has changed meanwhile.
func (s *server) check(dir string) {
	s.mu.Lock()
	open, texts, versions := map[string][]byte{}, map[string]*editor.Text{}, map[string]int{}
	var mine []string
	for path, d := range s.open {
		open[path] = d.data
		if filepath.Dir(path) == dir && ours(path, d.data) {
			mine = append(mine, path)
			texts[path], versions[path] = editor.NewText(d.data, s.inBytes), d.version
		}
	}
	s.mu.Unlock()
	slices.Sort(mine)
	list, alone, err := s.tryFindings(dir, mine, open)
	if err != nil {
		s.notify("window/logMessage", object{"type": 1, "message": err.Error()})
		return
	}
	by := map[string]diag.List{}
	for _, d := range list {
		by[d.Subject.File] = append(by[d.Subject.File], d)
	}
	s.mu.Lock()
	if s.stale[dir] {
		s.mu.Unlock()
		return // a newer text is waiting
	}
	s.alone[dir] = alone
	files := slices.Compact(slices.Sorted(slices.Values(slices.Concat(mine, slices.Collect(maps.Keys(by)), s.published[dir]))))
	s.published[dir] = nil
	for _, path := range files {
		if len(by[path]) > 0 {
			s.published[dir] = append(s.published[dir], path)
		}
		if texts[path] != nil {
			s.found[path] = by[path]
		}
	}
	uris := map[string]string{}
	for _, path := range mine {
		if d := s.open[path]; d != nil {
			uris[path] = d.uri
		}
	}
	s.mu.Unlock()
	for _, path := range files {
		text := texts[path]
		if text == nil {
			text = editor.NewText(readBounded(path), s.inBytes)
		}
		out := make([]object, 0, len(by[path]))
		for i := range by[path] {
			out = append(out, s.diagnostic(text, &by[path][i]))
		}
		p := object{"uri": uriOf(path), "diagnostics": out}
		if uris[path] != "" {
			p["uri"], p["version"] = uris[path], versions[path]
		}
		s.notify("textDocument/publishDiagnostics", p)
	}
}

// ours reports whether a text is for flowrun.
func ours(path string, data []byte) bool {
	return dsl.IsVariables(path) || strings.HasSuffix(path, ".hcl") && dsl.OriginOf(path, data) != dsl.Foreign
}

// tryFindings is findings, where a panic is an error.
func (s *server) tryFindings(dir string, mine []string, open map[string][]byte) (list diag.List, alone bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a bug in flowrun while it checked %s: %v", dir, p)
		}
	}()
	list, alone = s.findings(dir, mine, open)
	return list, alone, nil
}

// findings checks the programs of open texts. The files of a folder are one program, unless two of them declare the same name: then
// each is a program of its own.
func (s *server) findings(dir string, mine []string, open map[string][]byte) (list diag.List, alone bool) {
	flow := slices.ContainsFunc(programFiles(dir, open), func(path string) bool { return strings.HasSuffix(path, ".flow.hcl") })
	folder := false
	if _, err := os.Stat(dir); err != nil { // it comes with the first file that is saved
		folder, alone = true, true
	}
	for _, path := range mine {
		switch {
		case dsl.IsTest(path) || dsl.IsVariables(path) || flow && !strings.HasSuffix(path, ".flow.hcl"):
			list = append(list, s.Check(path, open)...)
		case folder && !alone:
		default:
			if !folder {
				folder = true
				found := s.Check(dir, open)
				if alone = collide(found); !alone {
					list = append(list, found...)
					continue
				}
			}
			list = append(list, s.Check(path, open)...)
		}
	}
	return list.Sort(), alone
}

// collide reports whether two files declare the same name.
func collide(list diag.List) bool {
	return slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Code == dsl.CodeTwice && len(d.Notes) > 0 && d.Notes[0].Range.File != d.Subject.File
	})
}

// programFiles lists the files *.hcl of a folder, open or not.
func programFiles(dir string, open map[string][]byte) (out []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".hcl") && !strings.HasPrefix(e.Name(), ".") && len(out) < dsl.MaxFiles {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	for path := range open {
		if filepath.Dir(path) == dir && strings.HasSuffix(path, ".hcl") {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readBounded reads a regular file of at most the usual size; nil if that fails.
func readBounded(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, syntax.MaxFileBytes+1))
	if err != nil || len(data) > syntax.MaxFileBytes {
		return nil
	}
	return data
}

// diagnostic puts a finding into the words of the protocol.
func (s *server) diagnostic(text *editor.Text, d *diag.Diagnostic) object {
	message := d.Summary
	if d.Detail != "" {
		message += "\n" + d.Detail
	}
	out := object{
		"range":    text.Range(spanOf(d.Subject)),
		"severity": map[diag.Severity]int{diag.Error: 1, diag.Warning: 2, diag.Advice: 3}[d.Severity],
		"source":   "flowrun", "code": d.Code, "codeDescription": object{"href": reference.URL(d.Code)}, "message": message,
	}
	var related []object
	for _, n := range d.Notes {
		if !n.Range.Set() {
			continue
		}
		in := text
		if n.Range.File != d.Subject.File {
			in = editor.NewText(s.textOf(n.Range.File), s.inBytes)
		}
		related = append(related, object{"message": n.Text, "location": object{"uri": uriOf(n.Range.File), "range": in.Range(spanOf(n.Range))}})
	}
	if related != nil {
		out["relatedInformation"] = related
	}
	return out
}

// textOf is the text of a file, open or not.
func (s *server) textOf(path string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[path]; d != nil {
		return d.data
	}
	return readBounded(path)
}

func spanOf(r diag.Range) editor.Span { return editor.Span{From: r.Start.Byte, To: r.End.Byte} }
