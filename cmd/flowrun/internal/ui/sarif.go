package ui

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// sarifSchema names the schema that the output conforms to; a test checks it.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sourceRoot is the name under which paths are relative to the root of the repository. Its place is left open, so that
// the same findings give the same file on every machine.
const sourceRoot = "SRCROOT"

// sarif writes the report in the Static Analysis Results Interchange Format 2.1.0. Columns are in UTF-16 code units, the
// format's own default.
func (r *Report) sarif(w io.Writer) error {
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: []sarifResult{}, Tool: sarifTool{sarifDriver{
		Name: "flowrun", SemanticVersion: r.Release, InformationURI: "https://github.com/flowrun/flowrun", Rules: []sarifRule{}}},
		Bases:       map[string]sarifBase{sourceRoot: {sarifText{Text: "The root of the repository."}}},
		Invocations: []sarifInvocation{{!r.Unread}}}
	index, prints := map[string]int{}, map[string]int{}
	for i := range r.List {
		d := &r.List[i]
		n, known := index[d.Code]
		if !known {
			n = len(run.Tool.Driver.Rules)
			index[d.Code] = n
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, r.sarifRule(d.Code))
		}
		run.Results = append(run.Results, r.result(d, n, prints))
	}
	return writeJSON(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "  ")
}

func (r *Report) sarifRule(code string) sarifRule {
	about := r.Rule(code)
	s := sarifRule{ID: code, HelpURI: about.URL}
	if about.Title != "" {
		s.Short = &sarifText{Text: about.Title}
	}
	if about.Help != "" {
		s.Help = &sarifText{Text: about.Help, Markdown: about.Help}
	}
	return s
}

func (r *Report) result(d *diag.Diagnostic, rule int, prints map[string]int) sarifResult {
	text := Clean(d.Summary) + "."
	if d.Detail != "" {
		text += "\n" + CleanLines(strings.TrimRight(d.Detail, "\n"))
	}
	level := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Advice: "note"}[d.Severity]
	out := sarifResult{RuleID: d.Code, RuleIndex: rule, Level: level, Message: sarifText{Text: plainText(text)}}
	if d.Subject.File != "" {
		out.Locations = []sarifLocation{{Physical: r.physical(d.Subject)}}
	}
	for i, n := range d.Notes {
		if n.Range.File != "" {
			out.Related = append(out.Related, sarifLocation{ID: i + 1, Physical: r.physical(n.Range),
				Message: &sarifText{Text: plainText(Clean(n.Text))}})
		}
	}
	if e := d.Edit; e != nil {
		p := r.physical(e.Range)
		out.Fixes = []sarifFix{{sarifText{Text: plainText("Write " + Clean(e.Text))},
			[]sarifChange{{p.Artifact, []sarifReplacement{{*p.Region, sarifContent{e.Text}}}}}}}
	}
	out.Prints = map[string]string{"finding/v1": r.print(d, prints)}
	return out
}

// print makes a fingerprint that stays when the finding moves to another line: code, file and the text of the line, and
// which one it is of several with the same.
func (r *Report) print(d *diag.Diagnostic, seen map[string]int) string {
	path, _ := r.Base(d.Subject.File)
	text, _ := lineAt(r.Sources[d.Subject.File], d.Subject.Start.Byte)
	key := strings.Join([]string{d.Code, path, d.Context, strings.TrimSpace(text)}, "\x00")
	seen[key]++
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, seen[key])))[:32]
}

func (r *Report) physical(at diag.Range) *sarifPhysical {
	p := &sarifPhysical{Artifact: sarifArtifact{URI: fileURI(at.File)}}
	if path, ok := r.Base(at.File); ok {
		p.Artifact = sarifArtifact{(&url.URL{Path: path}).EscapedPath(), sourceRoot}
		if first, _, _ := strings.Cut(p.Artifact.URI, "/"); strings.Contains(first, ":") {
			p.Artifact.URI = "./" + p.Artifact.URI // or else it would be a scheme
		}
	}
	if !at.Set() {
		return p
	}
	src := r.Sources[at.File]
	p.Region = &sarifRegion{StartLine: at.Start.Line, StartColumn: column(src, at.Start, utf16Units),
		EndLine: max(at.Start.Line, at.End.Line), EndColumn: column(src, at.End, utf16Units)}
	if p.Region.EndLine == p.Region.StartLine {
		p.Region.EndColumn = max(p.Region.StartColumn, p.Region.EndColumn)
	}
	return p
}

// fileURI names a file outside of the repository.
func fileURI(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(name)}).String()
}

// placeholder is what a reader of SARIF would replace by an argument, link what it would make a link of. The format wants
// every brace doubled; readers do not undo that, so only these are.
var (
	placeholder = lazyregexp.New(`\{\d+\}`)
	link        = lazyregexp.New(`\[([^\]\[]*)\]\(`)
)

func plainText(s string) string {
	s = placeholder().ReplaceAllString(s, "{$0}")
	return link().ReplaceAllString(s, `\[$1\](`)
}
