package ir

// Rule names a change of meaning: up to a behaviour number a program meant one thing, from the number on another. The code that
// holds both meanings asks the run's [Rules].
type Rule string

// PlainReasons words what the machine says of timeouts, of silent attempts and of decisions that nobody made in plain English.
const PlainReasons Rule = "plain_reasons"

// since has, for each rule, the behaviour number from which on the rule holds. A row comes together with a raised [Behaviour], and
// stays as long as journals of a lower number are read.
var since = map[Rule]int{PlainReasons: 2}

// Rules are the changes of meaning that hold for one behaviour number. nil: none.
type Rules map[Rule]bool

// RulesOf returns the rules of a behaviour number, which a run has from its journal's header.
func RulesOf(behaviour int) Rules { return rulesOf(behaviour, since) }

func rulesOf(behaviour int, since map[Rule]int) Rules {
	var rules Rules
	for rule, first := range since { // any order: it fills a map
		if behaviour >= first {
			if rules == nil {
				rules = Rules{}
			}
			rules[rule] = true
		}
	}
	return rules
}

// NewestRules returns the rules of [Behaviour]: those of a new run, and of an expression outside of any run.
func NewestRules() Rules { return RulesOf(Behaviour) }
