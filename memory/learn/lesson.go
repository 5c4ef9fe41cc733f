package learn

import (
	"fmt"
	"strings"
)

// observation says what happened.
func observation(t Task, f finding) string {
	if t.OK {
		out := "succeeded"
		if t.Attempts > 1 {
			out = fmt.Sprintf("succeeded on attempt %d", t.Attempts)
			if wrong := f.String(); wrong != "" {
				out += "; before: " + wrong
			}
		}
		if said := oneLine(t.Output); said != "" {
			out += ": " + said
		}
		return out
	}
	out := "failed"
	switch {
	case t.Problem != nil && t.Problem.Reason == "round":
		out = "was not accepted"
	case t.Attempts > 1:
		out = fmt.Sprintf("failed %d times", t.Attempts)
	}
	if how := how(t.Problem); how != "" {
		out += " (" + how + ")"
	}
	if wrong := f.String(); wrong != "" {
		out += ": " + wrong
	}
	return out
}

// lesson says what to do differently, as far as that can be told from how it failed.
func lesson(t Task, f finding) string {
	wrong := strings.TrimRight(f.String(), ".")
	p := t.Problem
	switch {
	case t.OK && t.Attempts > 1 && wrong != "":
		return "It works once this is seen to: " + wrong + "."
	case t.OK:
		return "It works as asked."
	case p == nil || wrong == "":
		return "It failed without saying why: find out before trying it the same way."
	}
	return fmt.Sprintf(advice(p), wrong)
}

// advice is the form of a lesson for one kind of trouble; what is wrong stands for its %s.
func advice(p *Problem) string {
	switch {
	case p.Status == 401 || p.Status == 403:
		return "The other side refused access: %s. Check the credentials before starting."
	case p.Status == 429 || p.Kind == "rate_limited":
		return "It was too much at once: %s. Ask less often, or for less."
	}
	switch p.Reason {
	case "timeout", "lost", "deadline":
		return "It ran out of time: %s. Do less in one go, report progress, or allow more time."
	case "not_found", "start":
		return "It could not start: %s. Make sure that it is installed before starting."
	case "gate", "round":
		return "The result was refused: %s. Make sure of that before handing in."
	case "bad_json", "bad_output", "output_type", "output_too_large":
		return "The answer had not the declared form: %s. Keep to the form."
	case "signal", "poison":
		return "It was killed: %s. It may need more memory or less work at once."
	case "require", "evaluation":
		return "What it needs was not there: %s. Make sure of it first."
	}
	return "See to this first: %s."
}

// how is the command and what it exited with.
func how(p *Problem) string {
	if p == nil {
		return ""
	}
	var parts []string
	if c := oneLine(p.Command); c != "" {
		parts = append(parts, "`"+Clip(c, 80)+"`")
	}
	switch {
	case p.Gate != "":
		parts = append(parts, fmt.Sprintf("gate %q", p.Gate))
	case p.Status != 0:
		parts = append(parts, fmt.Sprintf("HTTP status %d", p.Status))
	case p.Reason == "exit" && p.ExitCode > 0:
		parts = append(parts, fmt.Sprintf("exit code %d", p.ExitCode))
	case p.Reason == "round":
	case p.Reason != "" && p.Reason != "agent" && p.Reason != "exit":
		parts = append(parts, strings.ReplaceAll(p.Reason, "_", " "))
	}
	return strings.Join(parts, ", ")
}

// String is the line, the place where the line itself has none, and the advice.
func (f finding) String() string {
	out := f.line
	if f.place != "" {
		out += " (" + f.place + ")"
	}
	if f.hint != "" {
		out += ". It advises: " + f.hint
	}
	return out
}

// fact is what flowrun itself knows of what went wrong, and what the file says of it.
func fact(t Task) string {
	p := t.Problem
	if p == nil {
		return ""
	}
	out := how(p)
	switch {
	case p.Gate != "":
		out += " did not pass"
	case out == "" && p.Reason == "agent":
		out = "the agent reported an error"
	}
	if rule := oneLine(t.Rule); rule != "" && out != "" {
		out += ": " + rule
	} else if rule != "" {
		out = rule
	}
	return out
}
