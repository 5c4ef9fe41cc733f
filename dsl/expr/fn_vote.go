package expr

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// voteFunctions choose: an option by votes, a key by its number.
var voteFunctions = []function{
	{name: "vote", sig: "map map", result: voteType, call: func(r *run, a []value.Value) (value.Value, error) {
		votes := a[0].(map[string]any)
		rule, err := r.readVoteRule(a[1].(map[string]any), votes)
		if err != nil {
			return nil, err
		}
		return r.vote(votes, rule)
	}},
	{name: "argmax", sig: "figures", result: constant(value.StringType.OrNull()), call: func(_ *run, a []value.Value) (value.Value, error) {
		best := value.Value(nil)
		m := a[0].(map[string]any)
		for _, k := range value.Keys(m) {
			if m[k] != nil && (best == nil || m[k].(float64) > m[best.(string)].(float64)) {
				best = k
			}
		}
		return best, nil
	}},
}

// voteMethods are the ways to count votes.
var voteMethods = []string{"majority", "unanimous", "weighted", "score"}

// voteRuleType is what the second argument of vote may hold.
var voteRuleType = value.Object(map[string]value.Type{
	"method":    value.Type{Kind: value.StringT, Enum: voteMethods, Optional: true, Nullable: true},
	"threshold": optional(value.NumberType), "quorum": optional(value.NumberType), "weights": optional(value.Map(value.NumberType)),
})

func optional(t value.Type) value.Type { t.Optional, t.Nullable = true, true; return t }

// voteType is the type of the result: the decision has the type of the votes, and is null where nothing is decided.
func voteType(a []value.Type) value.Type {
	option := elemType(a[0])
	if isMap(option) {
		option = value.StringType
	}
	votes := value.Map(elemType(a[0]).OrNull())
	if a[0].Kind == value.ObjectT {
		votes = a[0]
	}
	return value.Object(map[string]value.Type{
		"decision": option.OrNull(), "share": value.NumberType, "tied": value.BoolType, "tally": value.Map(value.NumberType),
		"votes": votes, "abstained": value.List(value.StringType), "cast": value.IntType,
	})
}

// voteRule is how votes are counted. A threshold or quorum below 0 is none.
type voteRule struct {
	method            string
	threshold, quorum float64
	weights           map[string]any
}

// readVoteRule checks a rule: its members, and that its weights, where there are any, are those of the participants.
func (r *run) readVoteRule(m, votes map[string]any) (voteRule, error) {
	if weights, ok := m["weights"].(map[string]any); ok {
		if err := r.list(len(weights)); err != nil {
			return voteRule{}, err
		}
	}
	if _, err := value.Convert(m, voteRuleType); err != nil {
		return voteRule{}, fmt.Errorf("the rule %w", err)
	}
	for _, k := range value.Keys(m) {
		if _, known := voteRuleType.Attrs[k]; !known {
			return voteRule{}, fmt.Errorf("the rule has a member %q; it can have %s", shorten(k), strings.Join(voteRuleType.Names(), ", "))
		}
	}
	rule := voteRule{method: "majority", threshold: -1, quorum: -1}
	if s, ok := m["method"].(string); ok {
		rule.method = s
	}
	if f, ok := m["threshold"].(float64); ok {
		rule.threshold = f
	}
	if f, ok := m["quorum"].(float64); ok {
		rule.quorum = f
	}
	for _, name := range []string{"threshold", "quorum"} {
		if f, ok := m[name].(float64); ok {
			if err := checkVoteBound(name, f); err != nil {
				return rule, err
			}
		}
	}
	if m["weights"] == nil {
		if rule.method == "weighted" {
			return rule, errors.New("the method weighted needs weights: { PARTICIPANT = NUMBER, … }")
		}
		return rule, nil
	}
	rule.weights = m["weights"].(map[string]any)
	if rule.method != "weighted" && rule.method != "score" {
		return rule, fmt.Errorf("the method %s has no weights; weighted and score do", rule.method)
	}
	if err := checkWeightNames(rule.weights, votes); err != nil {
		return rule, err
	}
	return rule, checkWeightSum(rule.weights, rule.method == "weighted")
}

// checkVoteBound checks the threshold or the quorum of a rule.
func checkVoteBound(name string, f float64) error {
	switch {
	case name == "threshold" && (f <= 0 || f > 1):
		return fmt.Errorf("the threshold is %s; it must be above 0 and at most 1", textOf(f))
	case name == "quorum" && (f < 0 || !whole(f)):
		return fmt.Errorf("the quorum is %s; it must be a whole number, 0 or more", textOf(f))
	}
	return nil
}

// checkWeightNames wants a weight for each participant and for nobody else. A weight that is null is missing.
func checkWeightNames(weights, votes map[string]any) error {
	for _, p := range value.Keys(votes) {
		if weights[p] == nil {
			return fmt.Errorf("the weights do not name the participant %q", shorten(p))
		}
	}
	for _, k := range value.Keys(weights) {
		if _, votes := votes[k]; !votes {
			return fmt.Errorf("the weights name %q, which is not a participant", shorten(k))
		}
	}
	return nil
}

// checkWeightSum refuses weights below 0 and, where they are shares of all weight, a sum that is not 1.
func checkWeightSum(weights map[string]any, shares bool) error {
	sum := 0.0
	for _, k := range value.Keys(weights) {
		w, _ := weights[k].(float64)
		if sum += w; w < 0 {
			return fmt.Errorf("the weight of %q is below 0", shorten(k))
		}
	}
	if shares && math.Abs(sum-1) > voteTolerance {
		return fmt.Errorf("the weights sum to %s; they must sum to 1", strconv.FormatFloat(sum, 'g', 9, 64))
	}
	return nil
}

// voteTolerance is how far shares and weights may lie from a bound, since sums of fractions are not exact.
const voteTolerance = 1e-9

// weight is what the vote of a participant counts.
func (rule *voteRule) weight(participant string) float64 {
	if w, ok := rule.weights[participant].(float64); ok {
		return w
	}
	return 1
}

// decides reports whether a share is enough.
func (rule *voteRule) decides(share float64) bool {
	switch {
	case rule.method == "unanimous":
		return share >= 1-voteTolerance
	case rule.method == "score":
		return true
	case rule.threshold > 0:
		return share >= rule.threshold-voteTolerance
	}
	return share > 0.5+voteTolerance
}

// decimal computes with two numbers as a person does who reads their digits, so that .4 + .2 is .6. binary is what the machine makes of the binary
// fractions that it has instead.
func (r *run) decimal(a, b, binary float64, op func(z, x, y *big.Rat) *big.Rat) float64 {
	if !r.rules[ir.DecimalVotes] || whole(a) && whole(b) {
		return binary
	}
	x, first := new(big.Rat).SetString(strconv.FormatFloat(a, 'g', -1, 64))
	y, second := new(big.Rat).SetString(strconv.FormatFloat(b, 'g', -1, 64))
	if !first || !second { // a sum that no number can hold
		return binary
	}
	f, _ := op(x, x, y).Float64()
	return f
}

// vote counts. Options are told apart by their text. A null abstains.
func (r *run) vote(votes map[string]any, rule voteRule) (value.Value, error) {
	tally, option := map[string]any{}, map[string]value.Value{}
	abstained := []any{}
	all, bools := 0.0, true // all is the weight that shares are of
	if err := r.list(2 * len(votes)); err != nil {
		return nil, err
	}
	count := func(text string, v value.Value, n float64) {
		before, known := tally[text].(float64)
		if !known {
			option[text] = v
		}
		tally[text] = r.decimal(before, n, before+n, (*big.Rat).Add)
	}
	for _, participant := range value.Keys(votes) {
		v, weight := votes[participant], rule.weight(participant)
		if v != nil || rule.method == "weighted" {
			all = r.decimal(all, weight, all+weight, (*big.Rat).Add)
		}
		if v == nil {
			abstained = append(abstained, participant)
			continue
		}
		_, isBool := v.(bool)
		bools = bools && isBool
		if rule.method != "score" {
			if _, err := kScalar.take(v); err != nil {
				return nil, fmt.Errorf("the vote of %q: %w", shorten(participant), err)
			}
			count(textOf(v), v, weight)
			continue
		}
		scores, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the vote of %q is %s; the method score needs an object of numbers", shorten(participant), describe(v))
		}
		if err := r.list(len(scores)); err != nil {
			return nil, err
		}
		for _, k := range value.Keys(scores) {
			n, ok := scores[k].(float64)
			if !ok && scores[k] != nil {
				return nil, fmt.Errorf("the score that %q gives to %q is %s; a number is needed", shorten(participant), shorten(k), describe(scores[k]))
			}
			count(k, k, r.decimal(n, weight, float64(n*weight), (*big.Rat).Mul))
		}
	}
	if rule.method == "score" {
		all = 0
		for _, k := range value.Keys(tally) {
			n := math.Abs(tally[k].(float64))
			all = r.decimal(all, n, all+n, (*big.Rat).Add)
		}
	}
	cast := len(votes) - len(abstained)
	lead, tied := leader(tally)
	if bools && cast > 0 {
		lead = "true"
		option[lead] = true
	}
	share := 0.0
	if n, ok := tally[lead].(float64); ok && all > 0 {
		share = r.decimal(n, all, n/all, (*big.Rat).Quo)
	}
	decision := value.Value(nil)
	quorum := rule.quorum
	if quorum < 0 {
		quorum = math.Floor(float64(len(votes))/2) + 1
	}
	switch {
	case cast == 0 || float64(cast) < quorum:
	case bools:
		decision = !tied && rule.decides(share)
	case !tied && rule.decides(share):
		decision = option[lead]
	}
	for _, k := range value.Keys(tally) {
		if _, err := number(tally[k].(float64)); err != nil {
			return nil, fmt.Errorf("the tally of %q: %w", shorten(k), err)
		}
	}
	return map[string]any{
		"decision": decision, "share": share, "tied": tied, "tally": tally, "votes": votes, "abstained": abstained, "cast": float64(cast),
	}, nil
}

// leader is the option with the most, and whether others have as many. Of equals it is the first in order.
func leader(tally map[string]any) (lead string, tied bool) {
	for i, k := range value.Keys(tally) {
		switch n, most := tally[k].(float64), tally[lead]; {
		case i == 0 || n > most.(float64)+voteTolerance:
			lead, tied = k, false
		case n >= most.(float64)-voteTolerance:
			tied = true
		}
	}
	return lead, tied
}

// voteRule checks what is written out of a call of vote: the members of the rule, its method, its weights.
func (c *checker) voteRule(n *call, types []value.Type) {
	if n.f.name != "vote" || n.spread || len(types) != 2 {
		return
	}
	if option := elemType(types[0]); isList(option) {
		c.add(n.args[0].at(), codeOperand, "vote needs votes that are strings, numbers or bools", fmt.Sprintf("These are %s. With method = \"score\" each vote is an object of numbers.", describeType(types[0])))
	}
	rule, ok := n.args[1].(*object)
	if !ok {
		return
	}
	parts := map[string]node{}
	for i, k := range rule.keys {
		l, _ := k.(*lit)
		name, ok := l.name()
		if !ok {
			return
		}
		parts[name] = rule.vals[i]
		want, known := voteRuleType.Attrs[name]
		if !known {
			detail := "It can have " + strings.Join(voteRuleType.Names(), ", ") + "."
			if near := diag.Nearest(name, voteRuleType.Names()); near != "" {
				detail = fmt.Sprintf("Did you mean %q?", near)
			}
			c.add(k.at(), codeUnknownAttr, fmt.Sprintf("The rule of vote has no %q", shorten(name)), detail)
			continue
		}
		have, ok := types[1].Attrs[name]
		if ok && Assignable(have, want) == No {
			c.add(rule.vals[i].at(), codeOperand, fmt.Sprintf("%s of a vote needs %s", name, an(want.String())), fmt.Sprintf("This is %s.", describeType(have)))
		}
	}
	method, written := "majority", true
	if m := parts["method"]; m != nil && !isNull(m) {
		l, _ := m.(*lit)
		if method, written = l.name(); written && !slices.Contains(voteMethods, method) {
			detail := "It is one of " + strings.Join(voteMethods, ", ") + "."
			if near := diag.Nearest(method, voteMethods); near != "" {
				detail = fmt.Sprintf("Did you mean %q?", near)
			}
			c.add(m.at(), codeStatus, fmt.Sprintf("Votes cannot be counted by %q", shorten(method)), detail)
			return
		}
	}
	votes, known := literalMembers(n.args[0])
	c.voteBounds(parts, votes, known)
	if written {
		c.voteWeights(n.args[1], parts["weights"], method, votes, known)
	}
}

// voteBounds checks a threshold and a quorum that are written out. known reports whether votes are all participants.
func (c *checker) voteBounds(parts map[string]node, votes map[string]any, known bool) {
	for _, name := range []string{"threshold", "quorum"} {
		f, ok := literalNumber(parts[name])
		if !ok {
			continue
		}
		if err := checkVoteBound(name, f); err != nil {
			c.add(parts[name].at(), codeConstFails, capital(err.Error()), voteBoundHelp[name])
		} else if name == "quorum" && known && f > float64(len(votes)) {
			c.add(parts[name].at(), codeConstFails, fmt.Sprintf("The quorum is %s, but only %d can vote", textOf(f), len(votes)), "The decision would always be null. "+voteBoundHelp[name])
		}
	}
}

// voteBoundHelp says what a bound of a rule means.
var voteBoundHelp = map[string]string{
	"threshold": "The threshold is a share of the votes cast: 0.75 is three quarters.",
	"quorum":    "The quorum is the number of participants that must vote.",
}

// voteWeights checks weights that are written out against the votes that are.
func (c *checker) voteWeights(rule, weights node, method string, votes map[string]any, known bool) {
	if weights == nil || isNull(weights) {
		if method == "weighted" {
			c.add(rule.at(), codeConstFails, "The method weighted needs weights", "Add weights = { PARTICIPANT = NUMBER, … }, a number for each participant, with the sum 1.")
		}
		return
	}
	if method != "weighted" && method != "score" {
		c.add(weights.at(), codeConstFails, "The method "+method+" has no weights", "The methods weighted and score have.")
		return
	}
	given, ok := literalMembers(weights)
	if !ok {
		return
	}
	var err error
	if known {
		err = checkWeightNames(given, votes)
	}
	if err == nil && !slices.ContainsFunc(value.Keys(given), func(k string) bool { _, number := given[k].(float64); return !number }) {
		err = checkWeightSum(given, method == "weighted")
	}
	if err != nil {
		c.add(weights.at(), codeConstFails, capital(err.Error()), "Each participant has one weight, and the weights of the method weighted sum to 1.")
	}
}

// literalMembers are the members of an object whose keys are written out: a number where one is written out, else
// the node itself. ok reports whether all keys are written out.
func literalMembers(n node) (members map[string]any, ok bool) {
	o, ok := n.(*object)
	if !ok {
		return nil, false
	}
	members = make(map[string]any, len(o.keys))
	for i, k := range o.keys {
		l, _ := k.(*lit)
		name, ok := l.name()
		if !ok {
			return nil, false
		}
		if f, ok := literalNumber(o.vals[i]); ok {
			members[name] = f
		} else {
			members[name] = o.vals[i]
		}
	}
	return members, true
}

// literalNumber is a number that is written out, with a minus sign or without.
func literalNumber(n node) (float64, bool) {
	switch n := n.(type) {
	case *lit:
		f, ok := n.v.(float64)
		return f, ok
	case *unary:
		f, ok := literalNumber(n.x)
		return -f, ok && n.op == "-"
	}
	return 0, false
}

func isNull(n node) bool {
	l, ok := n.(*lit)
	return ok && l.v == nil
}
