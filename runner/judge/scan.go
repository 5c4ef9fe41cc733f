package judge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// sign is what a scan looks for.
type sign struct {
	severity ir.Severity
	words    string // what was found; the text itself is never repeated
	pattern  string
}

// signs are those of each scan. The shapes of keys are those that their issuers document.
var signs = map[ir.Scan][]sign{
	ir.ScanSecrets: {
		{ir.SeverityCritical, "a private key", `-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----`},
		{ir.SeverityCritical, "an access key of AWS", `\b(AKIA|ASIA)[0-9A-Z]{16}\b`},
		{ir.SeverityCritical, "a token of GitHub", `\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})`},
		{ir.SeverityCritical, "a token of GitLab", `\bglpat-[A-Za-z0-9_-]{20,}`},
		{ir.SeverityCritical, "a token of Slack", `\bxox[abeoprs]-[A-Za-z0-9-]{10,}`},
		{ir.SeverityCritical, "a key of Google", `\bAIza[0-9A-Za-z_-]{35}`},
		{ir.SeverityCritical, "a key of an API", `\b(sk|rk)-[A-Za-z0-9_-]{20,}|\b[sr]k_live_[A-Za-z0-9]{16,}`},
		{ir.SeverityCritical, "a token of npm", `\bnpm_[A-Za-z0-9]{36}\b`},
		{ir.SeverityHigh, "a JSON Web Token", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`},
		{ir.SeverityHigh, "a password in an address", `\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/:@]+@`},
		{ir.SeverityHigh, "a password or key", `(?i)\b[\w-]*(passw(or)?d|secret|api[_-]?key|access[_-]?key|auth[_-]?token)["']?\s*[:=]\s*["']?[^\s"',;<>{}$]{8,}`},
	},
	ir.ScanInjection: {
		{ir.SeverityHigh, "an order to ignore instructions", `\b(ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}\b(previous|prior|above|earlier|preceding|all|any|your|system|safety|the)\b[^.!?\n]{0,30}\b(instruction|prompt|rule|direction|guideline|order|constraint)s?\b`},
		{ir.SeverityHigh, "an order to forget everything", `\b(ignore|disregard|forget) (everything|all)( of)?( that)?( you)?( know| were told| said| above| before)`},
		{ir.SeverityHigh, "marks of a chat's roles", `<\|?(im_start|im_end|system|endoftext|start_header_id)\|?>|\[/?inst\]|<<sys>>|^\s*(###\s*)?(system|assistant)\s*:`},
		{ir.SeverityHigh, "an order to show the prompt", `\b(reveal|show|print|repeat|output|leak|disclose|tell me)\b[^.!?\n]{0,30}\b(system prompt|hidden prompt|initial prompt|your (instructions|prompt|rules))\b`},
		{ir.SeverityHigh, "new instructions", `\b(new|updated|real|actual) (system )?instructions?\s*:`},
		{ir.SeverityMedium, "another role", `\b(you are now|from now on,? you|pretend (to be|you are)|act as if you)\b`},
		{ir.SeverityMedium, "an order to keep something secret", `\b(do not|don't|never) (tell|inform|alert|mention (this|it) to) (the |your )?(user|operator|human|reviewer)s?\b`},
	},
}

// Scan looks into all texts of an output, the names of its members too. A finding tells the place in the output, and the line.
func Scan(scans []ir.Scan, output value.Value) (found []event.Finding) {
	var texts []placed
	collect(&texts, "output", output)
	for _, scan := range scans {
		for _, s := range signs[scan] {
			pattern := regexp.MustCompile(caseOf(scan) + s.pattern)
			for _, t := range texts {
				text := t.text
				if scan == ir.ScanInjection {
					text = plain.Replace(text)
				}
				for _, at := range pattern.FindAllStringIndex(text, maxOfSign) {
					found = append(found, event.Finding{Severity: s.severity, Message: s.words, File: bound(t.place), Line: 1 + strings.Count(text[:at[0]], "\n")})
				}
			}
		}
	}
	return found
}

// maxOfSign bounds how often a sign is told of one text.
const maxOfSign = 5

// caseOf is how the patterns of a scan read letters and lines.
func caseOf(scan ir.Scan) string {
	if scan == ir.ScanInjection {
		return "(?im)"
	}
	return ""
}

// plain takes characters out of a text that nobody sees, and that break words apart.
var plain = strings.NewReplacer("\u200b", "", "\u200c", "", "\u200d", "", "\u2060", "", "\ufeff", "", "\u00ad", "", "\u00a0", " ", "\t", " ", "’", "'")

// placed is a text with its place in a value.
type placed struct{ place, text string }

func collect(to *[]placed, place string, v value.Value) {
	switch v := v.(type) {
	case string:
		*to = append(*to, placed{place, v})
	case []value.Value:
		for i, e := range v {
			collect(to, fmt.Sprintf("%s[%d]", place, i), e)
		}
	case map[string]value.Value:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			*to = append(*to, placed{place, name})
			collect(to, place+"."+name, v[name])
		}
	}
}
