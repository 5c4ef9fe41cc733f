package event

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/ir"
)

// ErrorKind says how an error is to be dealt with. A file can write one, so the type is the program's.
type ErrorKind = ir.ErrorKind

// The kinds of error, in the order of severity.
const (
	Transient   = ir.Transient
	RateLimited = ir.RateLimited
	Recoverable = ir.Recoverable
	Blocking    = ir.Blocking
	Fatal       = ir.Fatal
)

// ErrorKinds lists all kinds of error.
var ErrorKinds = ir.ErrorKinds

// Reason says what an error is about. Files compare it as error.reason, so the list is closed and no word changes its meaning.
type Reason string

// The reasons of errors.
const (
	ReasonExit           Reason = "exit"             // a program ended with an exit code other than 0
	ReasonSignal         Reason = "signal"           // a signal ended the program
	ReasonTimeout        Reason = "timeout"          // a timeout passed: of an attempt, a group, a call or the run
	ReasonDeadline       Reason = "deadline"         // the deadline of the node passed
	ReasonLost           Reason = "lost"             // the attempt fell silent, or its driver died
	ReasonPoison         Reason = "poison"           // several drivers in a row died over the attempt
	ReasonNotFound       Reason = "not_found"        // the program does not exist
	ReasonStart          Reason = "start"            // the program or the request could not start
	ReasonCancelled      Reason = "cancelled"        // the run, or whatever held the node, was cancelled
	ReasonGate           Reason = "gate"             // a gate did not pass
	ReasonEvaluation     Reason = "evaluation"       // an expression could not be computed
	ReasonOutputType     Reason = "output_type"      // the output is not of the declared type
	ReasonOutputTooLarge Reason = "output_too_large" // the output exceeds its limit
	ReasonBadJSON        Reason = "bad_json"         // the output, or the agent's answer, is not JSON
	ReasonBadOutput      Reason = "bad_output"       // the file $FLOWRUN_OUTPUT cannot be read as an output
	ReasonAgent          Reason = "agent"            // the agent reported an error
	ReasonPin            Reason = "pin"              // an MCP server describes its tool in other words than the pinned ones
	ReasonHTTP           Reason = "http"             // a request got no answer, or an unexpected status
	ReasonChild          Reason = "child"            // a child node, an instance or a called run failed
	ReasonJoin           Reason = "join"             // the join of a group or for_each cannot hold any more
	ReasonLimit          Reason = "limit"            // a bound was reached: iterations, the depth of calls
	ReasonRequire        Reason = "require"          // a requirement does not hold
	ReasonFail           Reason = "fail"             // a fail or end step asked for it
	ReasonUndecided      Reason = "undecided"        // a vote decided nothing
	ReasonGroup          Reason = "group"            // runs of concurrency groups wait for each other
	ReasonBusy           Reason = "busy"             // the agent does as many tasks as it may, over all runs of the store
	ReasonQuota          Reason = "quota"            // a quota has too few free units
	ReasonRateLimit      Reason = "rate_limit"       // a rate limit allows no start now
	ReasonBreaker        Reason = "breaker"          // a circuit breaker is open after failures in a row
	ReasonSync           Reason = "sync"             // not all needed parties are ready at a sync point
	ReasonStore          Reason = "store"            // what runs share cannot do what a step asked for
	ReasonNoMember       Reason = "no_member"        // the pool has no member of the name that the step gives
	ReasonMemory         Reason = "memory"           // the processes of the attempt used more memory than they may, and were ended
	ReasonBudget         Reason = "budget"           // a budget around the node is spent, or what a quota allows in its span
	ReasonRejected       Reason = "rejected"         // people rejected it, or nobody decided in time
	ReasonAborted        Reason = "aborted"          // somebody whom its escalation asked has aborted it
	ReasonRefusal        Reason = "refusal"          // the model refused the task
	ReasonContentFilter  Reason = "content_filter"   // the provider of the model blocked the task or the answer
	ReasonContextLength  Reason = "context_length"   // the request has more tokens than the model can take
	ReasonMaxTurns       Reason = "max_turns"        // the model wants tools still, and has given as many answers as it may
	ReasonMaxTokens      Reason = "max_tokens"       // the answer of the model has more tokens than it may
	ReasonUnexplained    Reason = "error"            // the attempt failed and its executor gave no reason
	ReasonRound          Reason = "round"            // a repeat refused the work of an iteration; only tasks carry it, no node does
)

// Reasons lists all reasons.
var Reasons = []Reason{ReasonExit, ReasonSignal, ReasonTimeout, ReasonDeadline, ReasonLost, ReasonPoison, ReasonNotFound, ReasonStart,
	ReasonCancelled, ReasonGate, ReasonEvaluation, ReasonOutputType, ReasonOutputTooLarge, ReasonBadJSON, ReasonBadOutput, ReasonAgent,
	ReasonPin, ReasonHTTP, ReasonChild, ReasonJoin, ReasonLimit, ReasonRequire, ReasonFail, ReasonUndecided, ReasonGroup, ReasonBusy, ReasonQuota,
	ReasonRateLimit, ReasonBreaker, ReasonSync, ReasonStore, ReasonNoMember, ReasonMemory, ReasonBudget, ReasonRejected, ReasonAborted,
	ReasonRefusal, ReasonContentFilter, ReasonContextLength, ReasonMaxTokens, ReasonMaxTurns, ReasonUnexplained, ReasonRound}

// TimerPurpose says what a timer is set for.
type TimerPurpose string

// The purposes of timers.
const (
	TimerBackoff  TimerPurpose = "backoff"  // the next attempt starts
	TimerWait     TimerPurpose = "wait"     // a wait step ends
	TimerTimeout  TimerPurpose = "timeout"  // the timeout of a group, a call or the run passes
	TimerDeadline TimerPurpose = "deadline" // the deadline of a node passes
	TimerProgress TimerPurpose = "progress" // a part of that deadline passes
	TimerRepeat   TimerPurpose = "repeat"   // the next iteration starts
	TimerFinally  TimerPurpose = "finally"  // the timeout of finally passes
	TimerRefused  TimerPurpose = "refused"  // a refused attempt asks again
	TimerAdapt    TimerPurpose = "adapt"    // a rule of adapt is asked
	// Of loops:
	TimerIdle      TimerPurpose = "idle"      // the sources are asked again
	TimerHeartbeat TimerPurpose = "heartbeat" // the claims are renewed
)

// TimerPurposes lists all purposes.
var TimerPurposes = []TimerPurpose{TimerBackoff, TimerWait, TimerTimeout, TimerDeadline, TimerProgress, TimerRepeat, TimerFinally, TimerRefused, TimerAdapt, TimerIdle, TimerHeartbeat}

// Known returns an error if a word of e is not in its list. Empty words are fine: what they mean stands with their fields.
func (e *Error) Known() error {
	switch {
	case e == nil:
	case e.Kind != "" && !slices.Contains(ErrorKinds, e.Kind):
		return fmt.Errorf("unknown error kind %.60q", e.Kind)
	case e.Reason != "" && !slices.Contains(Reasons, e.Reason):
		return fmt.Errorf("unknown error reason %.60q", e.Reason)
	}
	return nil
}

// NeedKind says what sort of shared resource a need is of.
type NeedKind string

// The kinds of needs.
const (
	// NeedAgent is an agent: one unit for each attempt at once where its concurrency is bounded, its pace, its health.
	NeedAgent NeedKind = "agent"
	// NeedQuota is a declared quota: units, a pace, a health.
	NeedQuota NeedKind = "quota"
	// NeedTurn is the turn of a run in its group: one unit for the one run that has it. No attempt
	// needs it.
	NeedTurn NeedKind = "turn"
)

// NeedKinds lists all kinds of needs.
var NeedKinds = []NeedKind{NeedAgent, NeedQuota, NeedTurn}

// WaitKind says what a waiting node waits for.
type WaitKind string

// The kinds of waits that are told.
const (
	WaitBusy      WaitKind = "busy"       // for an agent that does as many tasks as it may
	WaitQuota     WaitKind = "quota"      // for units of a quota
	WaitRateLimit WaitKind = "rate_limit" // for the moment at which a rate limit allows a start
	WaitBreaker   WaitKind = "breaker"    // for a circuit breaker that is open
	WaitEvent     WaitKind = "event"      // for an event of a name
	WaitBudget    WaitKind = "budget"     // for the answers of the attempts that fill a budget, or for what a quota allows to be spent
	WaitSync      WaitKind = "sync"       // for the needed parties of a sync point
	WaitTimer     WaitKind = "timer"      // for a moment; the name is the purpose of the timer
	WaitChild     WaitKind = "child"      // for a called run; the name is its id
	WaitDecision  WaitKind = "decision"   // for the decision of people
)

// WaitKinds lists all kinds of waits that are told.
var WaitKinds = []WaitKind{WaitBusy, WaitQuota, WaitRateLimit, WaitBreaker, WaitBudget, WaitEvent, WaitSync, WaitTimer, WaitChild, WaitDecision}
