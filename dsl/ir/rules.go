package ir

// Rule names a change of meaning: up to a behaviour number a program meant one thing, from the number on another. The code that
// holds both meanings asks the run's [Rules].
type Rule string

// PlainReasons words what the machine says of timeouts, of silent attempts and of decisions that nobody made in plain English.
const PlainReasons Rule = "plain_reasons"

// ClassifyFirst sends the rules of classify with an attempt that a breaker counts, so that the breaker reads the error as the run does.
const ClassifyFirst Rule = "classify_first"

// BoundedKV lets a bounded number of a run's kv operations be under way at once: the next one is composed and started when one has ended.
// Before, all that were ready started at once.
const BoundedKV Rule = "bounded_kv"

// PausesAsk lets a loop that hears of a timed pause ask the store what time it is there: the clock can have been set back.
const PausesAsk Rule = "pauses_ask"

// HeldGroupsBegin lets a group that got its units again before a node inside started begin with that node. Before, a change of driver and a wait
// for the units in between left such a group without a start and without its timeout.
const HeldGroupsBegin Rule = "held_groups_begin"

// EndingRunsNoGates starts no gate of a node that is ending with what is around it: a person has cancelled that, or it has failed.
const EndingRunsNoGates Rule = "ending_runs_no_gates"

// EndedGroupsLetGo lets what is detached in a group go on when the group ends while it waits for its units again. Before, after a change of driver,
// that waited forever.
const EndedGroupsLetGo Rule = "ended_groups_let_go"

// EndedGroupsCollect lets a group whose children have all ended fail with them, although it is cancelled in the same moment. Before, it
// was cancelled.
const EndedGroupsCollect Rule = "ended_groups_collect"

// DeadlinesCatchUp has a deadline say only the last part that has passed, where several have while no process drove the run, and has its messages name
// the command that answers what the node asks people. Before, each part had a message, all at one moment and so in any order.
const DeadlinesCatchUp Rule = "deadlines_catch_up"

// EndingRepeatsNothing begins no iteration of a repeat that is ending with what is around it. What a join has cancelled is ending, too. Before, a
// repeat went on when its cancelled iteration had ended well in the meantime, and so did the retries and the gates of a loser.
const EndingRepeatsNothing Rule = "ending_repeats_nothing"

// DelayedNotLost keeps an attempt that waits for what is held around it where a process dies that did not run it. Before, on_lost = "fail" and
// three deaths in a row failed it, and its node went on twice when the units came.
const DelayedNotLost Rule = "delayed_not_lost"

// AbortedInstancesCount lets a for_each of which a person has aborted an instance fail as with on_error = "stop", whatever its on_error says. Before,
// on_error = "continue" tolerated it, and run.failed left it out although the abort had stopped the run.
const AbortedInstancesCount Rule = "aborted_instances_count"

// LoopsPublish lets a loop publish the event flowrun.loop when people pause, resume or stop it, when it reaches a limit, and when it stops or stops
// an agent.
const LoopsPublish Rule = "loops_publish"

// PlainFigures has a loop that tells of its target write a throughput of a thousand and more in digits, where it was 4.84e+04.
const PlainFigures Rule = "plain_figures"

// PausesFailAsAttempts lets a wait or an approval that fails go the way of a failed attempt: the rules of classify are asked, a gate that asks for
// better work lets it wait again, and then its escalation is asked. Gates do not judge the revision that a person asks for. Before, it failed at
// once, and they did.
const PausesFailAsAttempts Rule = "pauses_fail_as_attempts"

// DecimalVotes adds the weights of votes as decimal numbers: the share of .4 and .2 is .6, where it was .6000000000000001.
const DecimalVotes Rule = "decimal_votes"

// CancelsReachDetached lets a person who cancels a node end what a group in it has detached, too. Before, that went on.
const CancelsReachDetached Rule = "cancels_reach_detached"

// MessagesNameTheAnswer has the message of a level that awaits people name the command that answers, as the message of an approval does, and has a
// budget that asks people send a message with that command. Before, the message of a level left it out, and a budget sent none when it asked.
const MessagesNameTheAnswer Rule = "messages_name_the_answer"

// FailuresQuoteOutput puts the last lines that a program wrote below the message of its failure where an escalation tells of the failure: to the agent
// that takes over, to people, and to channels. Before, they read the exit code alone.
const FailuresQuoteOutput Rule = "failures_quote_output"

// FiguresHaveUnits has a benchmark's gate that does not pass write the unit of a time and of a memory. Before, it wrote the bare number.
const FiguresHaveUnits Rule = "figures_have_units"

// FeedbackNamesTheReviewer has a feedback whose work was not accepted in time say so, and what the reviewer answered last. Before, it told of the
// condition until of the repeat that it becomes.
const FeedbackNamesTheReviewer Rule = "feedback_names_the_reviewer"

// since has, for each rule, the behaviour number from which on the rule holds. A row comes together with a raised [Behaviour], and
// stays as long as journals of a lower number are read.
var since = map[Rule]int{PlainReasons: 2, ClassifyFirst: 2, BoundedKV: 2, PausesAsk: 2, HeldGroupsBegin: 2, EndingRunsNoGates: 2, EndedGroupsLetGo: 2, EndedGroupsCollect: 2,
	DeadlinesCatchUp: 2, EndingRepeatsNothing: 2, DelayedNotLost: 2, AbortedInstancesCount: 2, LoopsPublish: 2, PlainFigures: 2, PausesFailAsAttempts: 2,
	DecimalVotes: 2, CancelsReachDetached: 2, MessagesNameTheAnswer: 2, FailuresQuoteOutput: 2, FiguresHaveUnits: 2, FeedbackNamesTheReviewer: 2}

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
