package ir

import (
	"fmt"
	"slices"
	"strings"
)

// word is a text of a closed list. Every such type has its constants beside it, a list of them, and reads nothing else.
type word interface{ ~string }

// read sets a word from JSON. The empty text is the zero value: the attribute was not given.
func read[W word](to *W, text []byte, what string, list []W) error {
	if w := W(text); w == "" || slices.Contains(list, w) {
		*to = w
		return nil
	}
	return fmt.Errorf("%s %.60q is not one of %s", what, text, strings.Join(Texts(list), ", "))
}

// Texts returns the words of a list as they are spelled.
func Texts[W word](list []W) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// ErrorKind says how an error is to be dealt with.
type ErrorKind string

// The kinds of error, in the order of severity.
const (
	Transient   ErrorKind = "transient"
	RateLimited ErrorKind = "rate_limited"
	Recoverable ErrorKind = "recoverable"
	Blocking    ErrorKind = "blocking"
	Fatal       ErrorKind = "fatal"
)

// ErrorKinds lists all kinds of error.
var ErrorKinds = []ErrorKind{Transient, RateLimited, Recoverable, Blocking, Fatal}

// Retried reports whether an error of this kind is retried where no condition of the file says otherwise.
func (k ErrorKind) Retried() bool { return k != Blocking && k != Fatal }

// UnmarshalText refuses a kind that is not in [ErrorKinds].
func (k *ErrorKind) UnmarshalText(text []byte) error {
	return read(k, text, "the error kind", ErrorKinds)
}

// OnError says what the failure of a node means for other nodes.
type OnError string

// The values of on_error. The zero value means OnErrorBlock.
const (
	OnErrorBlock    OnError = "block"    // nodes that need the failed node are blocked
	OnErrorStop     OnError = "stop"     // also, the other nodes of its group or run are cancelled
	OnErrorContinue OnError = "continue" // the failure is tolerated
)

// OnErrors lists all values of on_error.
var OnErrors = []OnError{OnErrorBlock, OnErrorStop, OnErrorContinue}

// UnmarshalText refuses a value that is not in [OnErrors].
func (o *OnError) UnmarshalText(text []byte) error { return read(o, text, "on_error", OnErrors) }

// OnTimeout says what follows if the time of an attempt is up.
type OnTimeout string

// The values of on_timeout. The zero value means OnTimeoutFail.
const (
	OnTimeoutFail   OnTimeout = "fail"    // the attempt has failed
	OnTimeoutHandIn OnTimeout = "hand_in" // the attempt succeeds with what it has given until then, if anything
)

// OnTimeouts lists all values of on_timeout.
var OnTimeouts = []OnTimeout{OnTimeoutFail, OnTimeoutHandIn}

// UnmarshalText refuses a value that is not in [OnTimeouts].
func (o *OnTimeout) UnmarshalText(text []byte) error { return read(o, text, "on_timeout", OnTimeouts) }

// OnExceed says what follows if a budget is spent.
type OnExceed string

// The values of on_exceed. The zero value means OnExceedStop.
const (
	OnExceedStop OnExceed = "stop" // nothing more starts in it
	OnExceedWarn OnExceed = "warn" // the run warns
	OnExceedAsk  OnExceed = "ask"  // people decide
)

// OnExceeds lists all values of on_exceed.
var OnExceeds = []OnExceed{OnExceedStop, OnExceedWarn, OnExceedAsk}

// UnmarshalText refuses a value that is not in [OnExceeds].
func (o *OnExceed) UnmarshalText(text []byte) error { return read(o, text, "on_exceed", OnExceeds) }

// OnLost says what follows if the driver of an attempt dies.
type OnLost string

// The values of on_lost. The zero value means OnLostRetry.
const (
	OnLostRetry OnLost = "retry" // the same attempt starts again
	OnLostFail  OnLost = "fail"  // the attempt has failed
)

// OnLosts lists all values of on_lost.
var OnLosts = []OnLost{OnLostRetry, OnLostFail}

// UnmarshalText refuses a value that is not in [OnLosts].
func (o *OnLost) UnmarshalText(text []byte) error { return read(o, text, "on_lost", OnLosts) }

// OnFail says what follows if a gate does not pass.
type OnFail string

// The values of on_fail. The zero value means OnFailFail.
const (
	OnFailFail     OnFail = "fail"     // the node fails
	OnFailRetry    OnFail = "retry"    // another attempt gets the gate's message as feedback
	OnFailWarn     OnFail = "warn"     // the verdict is recorded and changes nothing
	OnFailEscalate OnFail = "escalate" // the node goes to its escalation at once
)

// OnFails lists all values of on_fail.
var OnFails = []OnFail{OnFailFail, OnFailRetry, OnFailWarn, OnFailEscalate}

// UnmarshalText refuses a value that is not in [OnFails].
func (o *OnFail) UnmarshalText(text []byte) error { return read(o, text, "on_fail", OnFails) }

// Severity says how grave a finding is.
type Severity string

// The severities, in their order.
const (
	SeverityInfo     Severity = "info"
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Severities lists all severities, the gravest last.
var Severities = []Severity{SeverityInfo, SeverityLow, SeverityMedium, SeverityHigh, SeverityCritical}

// UnmarshalText refuses a value that is not in [Severities].
func (s *Severity) UnmarshalText(text []byte) error { return read(s, text, "severity", Severities) }

// Blocks reports whether a finding of severity f does not pass a gate that blocks from s on. The zero value of s means
// [SeverityHigh].
func (s Severity) Blocks(f Severity) bool {
	if s == "" {
		s = SeverityHigh
	}
	return slices.Index(Severities, f) >= slices.Index(Severities, s)
}

// Findings names a format in which a program lists findings.
type Findings string

// The formats of findings.
const (
	FindingsSARIF Findings = "sarif" // Static Analysis Results Interchange Format 2.1.0
	FindingsJSON  Findings = "json"  // a list of objects with severity and message, or an object with such a list as findings
)

// AllFindings lists all formats of findings.
var AllFindings = []Findings{FindingsSARIF, FindingsJSON}

// UnmarshalText refuses a value that is not in [AllFindings].
func (f *Findings) UnmarshalText(text []byte) error { return read(f, text, "findings", AllFindings) }

// Scan names a built-in scan of texts.
type Scan string

// The scans.
const (
	ScanSecrets   Scan = "secrets"   // keys, tokens and passwords
	ScanInjection Scan = "injection" // words that try to give orders to an agent
)

// Scans lists all scans.
var Scans = []Scan{ScanSecrets, ScanInjection}

// UnmarshalText refuses a value that is not in [Scans].
func (s *Scan) UnmarshalText(text []byte) error { return read(s, text, "scan", Scans) }

// Losers says what becomes of the children or instances that still run when a join has enough.
type Losers string

// The values of losers. The zero value means LosersWait for a join of all, and LosersCancel for any other join.
const (
	LosersWait   Losers = "wait"   // the node ends after them
	LosersCancel Losers = "cancel" // they are cancelled
	LosersDetach Losers = "detach" // the node ends at once, and the run waits for them
)

// AllLosers lists all values of losers.
var AllLosers = []Losers{LosersWait, LosersCancel, LosersDetach}

// UnmarshalText refuses a value that is not in [AllLosers].
func (l *Losers) UnmarshalText(text []byte) error { return read(l, text, "losers", AllLosers) }

// JoinWord is a join that is neither a number nor a condition.
type JoinWord string

// The words of a join. The zero value means that the join is a number or a condition.
const (
	JoinAll          JoinWord = "all"           // all children or instances end well
	JoinAny          JoinWord = "any"           // the first end decides
	JoinFirstSuccess JoinWord = "first_success" // the first success decides
)

// JoinWords lists all words of a join.
var JoinWords = []JoinWord{JoinAll, JoinAny, JoinFirstSuccess}

// UnmarshalText refuses a word that is not in [JoinWords].
func (j *JoinWord) UnmarshalText(text []byte) error { return read(j, text, "the join", JoinWords) }

// WhenBusy says what a run does while another run of its group is active.
type WhenBusy string

// The values of when_busy. The zero value means WhenBusyQueue.
const (
	WhenBusyQueue          WhenBusy = "queue"           // it waits for its turn
	WhenBusySkip           WhenBusy = "skip"            // it ends as skipped
	WhenBusyCancelPrevious WhenBusy = "cancel_previous" // the other run is cancelled, and this one waits for its end
)

// WhenBusies lists all values of when_busy.
var WhenBusies = []WhenBusy{WhenBusyQueue, WhenBusySkip, WhenBusyCancelPrevious}

// UnmarshalText refuses a value that is not in [WhenBusies].
func (w *WhenBusy) UnmarshalText(text []byte) error { return read(w, text, "when_busy", WhenBusies) }

// EndStatus is the status that an end step gives its run.
type EndStatus string

// The statuses of an end step. The zero value means EndSucceeded.
const (
	EndSucceeded EndStatus = "succeeded"
	EndFailed    EndStatus = "failed"
	EndCancelled EndStatus = "cancelled"
)

// EndStatuses lists all statuses of an end step.
var EndStatuses = []EndStatus{EndSucceeded, EndFailed, EndCancelled}

// UnmarshalText refuses a status that is not in [EndStatuses].
func (e *EndStatus) UnmarshalText(text []byte) error {
	return read(e, text, "the end's status", EndStatuses)
}

// Jitter says how the delay before another attempt is spread.
type Jitter string

// The kinds of jitter. The zero value means that of the layer above, and JitterFull where no layer names one.
const (
	JitterNone  Jitter = "none"  // the computed delay
	JitterFull  Jitter = "full"  // between 0 and the computed delay
	JitterEqual Jitter = "equal" // between half of the computed delay and all of it
)

// Jitters lists all kinds of jitter.
var Jitters = []Jitter{JitterNone, JitterFull, JitterEqual}

// UnmarshalText refuses a kind that is not in [Jitters].
func (j *Jitter) UnmarshalText(text []byte) error { return read(j, text, "the jitter", Jitters) }
