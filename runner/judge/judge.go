// Package judge reads what judges and scanners say, and decides whether it passes a gate. What cannot be read passes nothing.
//
// Review reads the answer of an agent, Findings what a program has printed, and Scan looks into the texts of an output.
//
// The package is pure. It must never import the machine or a host.
package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Words in a message: how many findings are named.
const maxNamed = 3

// Review decides on the answer of a judge: { scores = map(number), findings = list(object({ severity, message, file, line })) }. It
// passes if each criterion has a score that reaches its bound, and no finding is as grave as block. said is "" if it passes.
func Review(answer value.Value, criteria map[string]float64, block ir.Severity) (scores map[string]float64, found []event.Finding, said string) {
	object, ok := answer.(map[string]value.Value)
	if !ok {
		return nil, nil, "the judge answered with something else than an object of scores and findings"
	}
	if scores, said = readScores(object["scores"], criteria); said != "" {
		return nil, nil, said
	}
	list, has := object["findings"]
	if !has || list == nil {
		return scores, nil, "the answer of the judge has no findings; an empty list says that there are none"
	}
	found, err := readFindings(list)
	if err != nil {
		return scores, nil, "the findings of the judge cannot be read: " + err.Error()
	}
	var low []string
	for _, name := range slices.Sorted(maps.Keys(criteria)) {
		if score := scores[name]; score < criteria[name] {
			low = append(low, fmt.Sprintf("%s is %s, and at least %s is needed", name, value.Text(score), value.Text(criteria[name])))
		}
	}
	if bad := Blocked(found, block); bad != "" {
		low = append(low, bad)
	}
	return scores, found, strings.Join(low, "\n")
}

// readScores reads scores. Each criterion must have one.
func readScores(v value.Value, criteria map[string]float64) (map[string]float64, string) {
	object, ok := v.(map[string]value.Value)
	if v == nil && len(criteria) == 0 {
		return nil, ""
	}
	if !ok {
		return nil, "the answer of the judge has no object of scores"
	}
	scores := map[string]float64{}
	for name, v := range object { // any order: it fills a map
		score, ok := v.(float64)
		if !ok || score != score || score > maxScore || score < -maxScore {
			return nil, fmt.Sprintf("the score of %.60q is not a number", smallest(object))
		}
		scores[name] = score
	}
	for _, name := range slices.Sorted(maps.Keys(criteria)) {
		if _, scored := scores[name]; !scored {
			return nil, fmt.Sprintf("the judge gave no score for %q", name)
		}
	}
	return scores, ""
}

// maxScore bounds a score. Infinity is none.
const maxScore = 1e300

// smallest names the first score of an object that is not a number.
func smallest(object map[string]value.Value) string {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if score, ok := object[name].(float64); !ok || score != score || score > maxScore || score < -maxScore {
			return name
		}
	}
	return ""
}

// readFindings reads a list of findings.
func readFindings(v value.Value) ([]event.Finding, error) {
	list, ok := v.([]value.Value)
	if !ok {
		return nil, fmt.Errorf("a list is needed")
	}
	found := make([]event.Finding, len(list))
	for i, v := range list {
		object, ok := v.(map[string]value.Value)
		if !ok {
			return nil, fmt.Errorf("number %d is not an object", i+1)
		}
		f := &found[i]
		severity, _ := object["severity"].(string)
		if f.Severity = ir.Severity(severity); !slices.Contains(ir.Severities, f.Severity) {
			return nil, fmt.Errorf("the severity of number %d is %.40q, and not one of %s", i+1, severity, strings.Join(ir.Texts(ir.Severities), ", "))
		}
		if f.Message, ok = object["message"].(string); !ok || f.Message == "" {
			return nil, fmt.Errorf("number %d has no message", i+1)
		}
		f.Message = bound(f.Message)
		if file, has := object["file"]; has && file != nil {
			if f.File, ok = file.(string); !ok {
				return nil, fmt.Errorf("the file of number %d is not a text", i+1)
			}
			f.File = bound(f.File)
		}
		if line, has := object["line"]; has && line != nil {
			n, ok := line.(float64)
			if !ok || n < 0 || n > 1<<31 || n != float64(int(n)) {
				return nil, fmt.Errorf("the line of number %d is not a whole number", i+1)
			}
			f.Line = int(n)
		}
	}
	return found, nil
}

// maxText bounds a text of a finding in bytes.
const maxText = 300

func bound(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

// Blocked says which findings do not pass a gate that blocks from a severity on, the gravest first; "" if all pass.
func Blocked(found []event.Finding, block ir.Severity) string {
	var bad []event.Finding
	for _, f := range found {
		if block.Blocks(f.Severity) {
			bad = append(bad, f)
		}
	}
	if len(bad) == 0 {
		return ""
	}
	bad = Gravest(bad)
	var lines []string
	for i, f := range bad {
		if i == maxNamed {
			lines = append(lines, fmt.Sprintf("and %d more", len(bad)-maxNamed))
			break
		}
		lines = append(lines, Words(f))
	}
	return strings.Join(lines, "\n")
}

// Words are a finding in a line.
func Words(f event.Finding) string {
	at := f.File
	if at != "" && f.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, f.Line)
	}
	if at != "" {
		at = " (" + at + ")"
	}
	return fmt.Sprintf("%s: %s%s", f.Severity, f.Message, at)
}

// Gravest sorts findings by severity, the gravest first. Of equals the first stays first.
func Gravest(found []event.Finding) []event.Finding {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b event.Finding) int {
		return slices.Index(ir.Severities, b.Severity) - slices.Index(ir.Severities, a.Severity)
	})
	return found
}

// Keep puts the gravest findings into evidence.
func Keep(e *event.Evidence, found []event.Finding) {
	found = Gravest(found)
	if e.More = len(found) - event.MaxFindings; e.More > 0 {
		found = found[:event.MaxFindings]
	} else {
		e.More = 0
	}
	e.Findings = found
}
