package compose

import (
	"fmt"
	"math"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/limits"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/request"
)

// chatBases are the addresses of the providers, below which their APIs are.
var chatBases = map[ir.Provider]string{
	ir.OpenAI: "https://api.openai.com/v1", ir.Anthropic: "https://api.anthropic.com", ir.Gemini: "https://generativelanguage.googleapis.com",
}

// composeChat computes how the model of an agent is asked. The host makes the requests.
func (c *Composer) composeChat(a *event.Attempt, w *Work, g *ir.Agent, sc *Scope) (place string, err error) {
	from := g.Chat
	of := fmt.Sprintf(" of agent %q", g.Name)
	q := &event.ChatRequest{Provider: from.Provider, API: from.API, KeyEnv: from.KeyEnv, Output: OutputType(w.Node, g)}
	a.Agent.Chat = q
	a.HTTP = &event.HTTPRequest{Method: "POST", URL: chatBases[from.Provider]}
	for _, part := range []struct {
		name, place string
		expr        *ir.Expr
	}{{"base_url", request.URL, from.BaseURL}, {"headers", request.Headers, g.Headers}, {"key", request.ChatKey, from.Key}} {
		if part.expr == nil {
			continue
		}
		if err = c.composePart(a, part.place, part.name+of, part.expr, sc); err != nil {
			return part.name + of, err
		}
	}
	if q.Model, err = c.Text(from.Model, sc); err == nil && q.Model == "" {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return "model" + of, err
	}
	if q.MaxTokens, err = c.Count(from.MaxTokens, sc, 0, limits.MaxChatTokens); err != nil {
		return "max_tokens" + of, err
	}
	if from.Temperature != nil {
		t, err := c.evalBetween(from.Temperature, sc, 0, limits.MaxTemperature)
		if err != nil {
			return "temperature" + of, err
		}
		q.Temperature = &t
	}
	if p := from.Prices; p != nil {
		if q.Prices, err = c.evalPrices(p, sc); err != nil {
			return "prices" + of, err
		}
	}
	if len(g.Servers) == 0 {
		return "", nil
	}
	if q.MaxTurns, err = c.Count(from.MaxTurns, sc, limits.DefaultTurns, limits.MaxTurns); err != nil {
		return "max_turns" + of, err
	}
	q.ContextTokens, err = c.Count(from.ContextTokens, sc, 0, limits.MaxChatTokens)
	return "context_tokens" + of, err
}

func (c *Composer) evalPrices(p *ir.Prices, sc *Scope) (out *event.ChatPrices, err error) {
	out = &event.ChatPrices{}
	if out.Input, err = c.evalBetween(p.Input, sc, 0, math.MaxInt32); err == nil {
		out.Output, err = c.evalBetween(p.Output, sc, 0, math.MaxInt32)
	}
	if out.CachedInput = out.Input; err == nil && p.CachedInput != nil {
		out.CachedInput, err = c.evalBetween(p.CachedInput, sc, 0, math.MaxInt32)
	}
	return out, err
}

// evalBetween evaluates a number from least to most.
func (c *Composer) evalBetween(e *ir.Expr, sc *Scope, least, most float64) (float64, error) {
	v, err := c.eval.Eval(e, sc)
	if err != nil {
		return 0, err
	}
	f, ok := v.(float64)
	if !ok || !(f >= least && f <= most) {
		return 0, fmt.Errorf("a number from %v to %v is needed, but this is %.60s", least, most, value.Text(v))
	}
	return f, nil
}

// judgementType is what a judge answers: a score for each criterion, and findings.
func judgementType(criteria map[string]float64) *value.Type {
	scores := value.Map(value.NumberType)
	if len(criteria) > 0 {
		attrs := map[string]value.Type{}
		for name := range criteria { // any order: it fills a map
			attrs[name] = value.NumberType
		}
		scores = value.Object(attrs)
	}
	optional := func(t value.Type) value.Type { t.Optional = true; return t }
	severity := value.StringType
	for _, s := range ir.Severities {
		severity.Enum = append(severity.Enum, string(s))
	}
	t := value.Object(map[string]value.Type{"scores": scores, "findings": value.List(value.Object(map[string]value.Type{
		"severity": severity, "message": value.StringType, "file": optional(value.StringType), "line": optional(value.NumberType)}))})
	return &t
}
