package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// Findings reads what a program has printed: SARIF, or JSON. An error: it cannot be read, so it passes nothing.
func Findings(format ir.Findings, text string) ([]event.Finding, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("nothing was printed")
	}
	if format == ir.FindingsSARIF {
		return readSARIF(text)
	}
	v, err := value.Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	if object, ok := v.(map[string]value.Value); ok {
		if v, ok = object["findings"]; !ok {
			return nil, errors.New("the object has no findings")
		}
	}
	return readFindings(v)
}

// sarif is what is read of the Static Analysis Results Interchange Format 2.1.0 (OASIS Standard, 2020).
type sarif struct {
	Runs *[]struct {
		Invocations []struct {
			Successful *bool `json:"executionSuccessful"`
		} `json:"invocations"`
		Tool struct {
			Driver struct {
				Rules []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results *[]sarifResult `json:"results"`
	} `json:"runs"`
}

type sarifRule struct {
	ID            string `json:"id"`
	Configuration struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties sarifProperties `json:"properties"`
}

type sarifProperties struct {
	Severity any `json:"security-severity"` // 0 to 10, as text or number: a convention of scanners for CVSS
}

type sarifResult struct {
	RuleID    string `json:"ruleId"`
	RuleIndex *int   `json:"ruleIndex"`
	Kind      string `json:"kind"`
	Level     string `json:"level"`
	Message   struct {
		Text string `json:"text"`
		ID   string `json:"id"`
	} `json:"message"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				Line int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	} `json:"locations"`
	Suppressions []struct {
		Status string `json:"status"`
	} `json:"suppressions"`
	Properties sarifProperties `json:"properties"`
}

// levels are the severities of SARIF's levels.
var levels = map[string]ir.Severity{"error": ir.SeverityHigh, "warning": ir.SeverityMedium, "note": ir.SeverityLow, "none": ir.SeverityInfo}

func readSARIF(text string) (found []event.Finding, err error) {
	var log sarif
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		return nil, err
	}
	if log.Runs == nil {
		return nil, errors.New("the object has no runs, so it is not SARIF")
	}
	for n, run := range *log.Runs {
		for _, i := range run.Invocations {
			if i.Successful != nil && !*i.Successful {
				return nil, fmt.Errorf("run %d says that the scan itself failed", n+1)
			}
		}
		if run.Results == nil {
			return nil, fmt.Errorf("run %d has no results; an empty list says that nothing was found", n+1)
		}
		for i, r := range *run.Results {
			if r.Kind != "" && r.Kind != "fail" || r.suppressed() {
				continue
			}
			rule := r.rule(run.Tool.Driver.Rules)
			f := event.Finding{Message: bound(r.Message.Text)}
			if f.Severity, err = r.severity(rule); err != nil {
				return nil, fmt.Errorf("result %d of run %d: %w", i+1, n+1, err)
			}
			if f.Message == "" {
				f.Message = bound(r.RuleID + r.Message.ID)
			}
			if len(r.Locations) > 0 {
				p := r.Locations[0].Physical
				f.File, f.Line = bound(p.Artifact.URI), p.Region.Line
			}
			found = append(found, f)
		}
	}
	return found, nil
}

// suppressed reports whether somebody has accepted a result.
func (r *sarifResult) suppressed() bool {
	for _, s := range r.Suppressions {
		if s.Status == "underReview" || s.Status == "rejected" {
			return false
		}
	}
	return len(r.Suppressions) > 0
}

// rule finds the rule of a result; the zero rule if there is none.
func (r *sarifResult) rule(rules []sarifRule) (none sarifRule) {
	if i := r.RuleIndex; i != nil && *i >= 0 && *i < len(rules) {
		return rules[*i]
	}
	if i := slices.IndexFunc(rules, func(rule sarifRule) bool { return rule.ID == r.RuleID }); i >= 0 && r.RuleID != "" {
		return rules[i]
	}
	return none
}

// severity is that of a result: by its score for security, else by its level.
func (r *sarifResult) severity(rule sarifRule) (ir.Severity, error) {
	score := r.Properties.Severity
	if score == nil {
		score = rule.Properties.Severity
	}
	if score != nil {
		n, err := strconv.ParseFloat(fmt.Sprint(score), 64)
		switch {
		case err != nil || n != n:
			return "", fmt.Errorf("security-severity %.60q is not a number", fmt.Sprint(score))
		case n >= 9:
			return ir.SeverityCritical, nil
		case n >= 7:
			return ir.SeverityHigh, nil
		case n >= 4:
			return ir.SeverityMedium, nil
		case n > 0:
			return ir.SeverityLow, nil
		}
		return ir.SeverityInfo, nil
	}
	level := r.Level
	if level == "" {
		level = rule.Configuration.Level
	}
	if level == "" {
		level = "warning"
	}
	s, known := levels[level]
	if !known {
		return "", fmt.Errorf("level %.60q is not known", level)
	}
	return s, nil
}
