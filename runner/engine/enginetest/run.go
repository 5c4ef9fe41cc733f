package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/journal"
)

// Run puts a kind of host through the suite.
func Run(t *testing.T, h Harness) {
	for _, test := range []struct {
		name  string
		needs Kind
		run   func(*testing.T, Store)
	}{
		{"a start is durable, and one however often it is asked for", 0, startIsDurable},
		{"a start makes the first event", Begins, startBegins},
		{"a run goes to its end", 0, runsToEnd},
		{"an executor says when an attempt started, and not later than its end", 0, startsOfOtherClocks},
		{"what is shown is durable", 0, shownIsDurable},
		{"a run that ended is replayed and not repeated", 0, endedIsReplayed},
		{"a run may end with its first event", 0, endsAtOnce},
		{"unknown runs are refused", 0, unknownRuns},
		{"timers fire in order and not early", 0, timersFire},
		{"a failed attempt is tried again after its backoff", 0, backoff},
		{"batches are bounded by number, and full", Alone, boundedBatches},
		{"batches are bounded by size", 0, boundedBytes},
		{"a stop is not a cancel", Blocks | Alone, stopIsNoCancel},
		{"a stop keeps timers", 0, stopKeepsTimers},
		{"a crash at any commit loses nothing", 0, crashAnywhere},
		{"a crash loses what was in flight, and says so", Blocks | Alone, crashInFlight},
		{"a broken commit is the last", Alone, brokenCommit},
		{"another machine is noticed", 0, otherMachine},
		{"another machine is noticed before the first drive", Begins, otherFirstMachine},
		{"a cancel reaches live attempts", Blocks, cancelLive},
		{"a cancel waits for a driver", 0, cancelBeforeDrive},
		{"a cancel while nobody drives starts nothing again", 0, cancelBetweenDrives},
		{"what starts and is cancelled in one batch never starts", 0, cancelInBatch},
		{"a cancel comes from another process", Blocks, cancelFromOutside},
		{"a cancel of what has ended does nothing", 0, cancelAfterEnd},
		{"a message reaches the task that it is for", 0, messageArrives},
		{"a message arrives once, whatever crashes", 0, messageOnce},
		{"a message comes from another process", Blocks | Alone, messageFromOutside},
		{"a message that nothing waits for is recorded", 0, messageForNobody},
		{"a message of an unknown kind, or too large, is refused", 0, messageRefused},
		{"an inbox is bounded", 0, boundedInbox},
		{"a run has one driver", Blocks | Alone, oneDriver},
		{"what runs share is given to one at a time", Shares, scarceInTurn},
		{"a null agent that needs an admission keeps nobody from a start", Blocks | Shares, scarceNull},
		{"a refused attempt waits for its grant, and starts with its number and key", Blocks | Shares, scarceGranted},
		{"a cancelled run leaves the line", Blocks | Shares, scarceCancelled},
		{"a refused attempt can ask for another agent, with its number and key", Blocks | Shares, scarceElsewhere},
		{"what a dead driver held goes to the next", Blocks | Shares, scarceAfterDeath},
		{"no more attempts start than a rate limit allows, and none too late", Shares, pacedStarts},
		{"no more is spent than a quota allows in its span, and no attempt waits for too long", Shares, sharedSpending},
		{"a crash at any commit loses no grant of a rate limit or a breaker", Shares, limitsAtEveryCommit},
		{"a breaker opens, and one probe closes it", Shares, brokenAndProbed},
		{"runs that wait for it hear that a breaker has opened, and closed", Shares, brokenIsTold},
		{"runs that wait for it hear that a person has closed a breaker", Shares, resetIsTold},
		{"a breaker does not count what its condition leaves out", Shares, brokenByCondition},
		{"a breaker reads an error as rules have classified it", Shares, classifiedFirst},
		{"a probe that dies with its driver is lost, and the next one probes after the reset", Blocks | Shares, probeDies},
		{"nothing of an agent starts before the moment that the other side named", Shares, heldByOther},
		{"nothing of an agent without bounds starts before the moment that the other side named", Shares, heldWithoutBounds},
		{"nothing of an agent that was stopped starts until it is started, whatever bounds it", Shares, stoppedAgents},
		{"an agent that is stopped while its attempt waits for a quota starts nothing, and keeps no other from the quota", Shares, stoppedInLine},
		{"what a run holds is free when the run ends, and not before", Shares, heldToTheEnd},
		{"a run that waits is parked, and woken when its timer is due", Parks, parkedAndWoken},
		{"a message wakes a parked run, and a cancel", Parks, parkedHears},
		{"a parked run has a driver, until the process ends", Parks, parkedHasADriver},
		{"a caller is parked with the run that it called", Parks, parkedFamily},
		{"a cancel wakes a parked caller, and a parked called run", Parks, parkedFamilyCancelled},
		{"a crash at any commit of parked callers and called runs loses nothing", Parks, parkedFamilyAtEveryCommit},
		{"a called run that waits for its turn is parked with its caller", Parks, parkedFamilyInLine},
		{"a grant wakes a parked run", Blocks | Parks, parkedRefused},
		{"a run that cannot be driven gives its turn to the next", Parks, parkedInVain},
		{"a parked run that cannot be driven leaves the line", Blocks | Parks, refusedInVain},
		{"a crash at any commit of parked and queued runs loses nothing", Parks, parkedAtEveryCommit},
		{"runs of a group take turns, in order", Shares, groupsQueue},
		{"a run is skipped while another of its group is under way", Shares, groupsSkip},
		{"a run cancels those of its group before it", Shares, groupsCancelPrevious},
		{"a run that waits for its turn can be cancelled", Shares, groupsCancelled},
		{"a run that waits for its turn gets its messages when it begins", Shares, groupsAndMessages},
		{"a dead process holds no turn", Shares | Alone, groupsOfTheDead},
		{"a run that comes back waits for the run that has the turn", Shares | Alone, groupsOfTheReturned},
		{"a run keeps its turn while nobody drives it", Shares | Fleet, groupsOfTheLeft},
		{"a parked run keeps its turn", Shares | Parks, groupsOfTheParked},
		{"a called run shares the turn of its caller", Shares, groupsOfChildren},
		{"called runs that share a turn take turns", Shares, groupsOfSiblings},
		{"an unknown when_busy is refused", Shares, groupUnknown},
		{"what runs share is changed once, whatever crashes", Shares, countsOnce},
		{"runs that count at once count all", Shares, countsTogether},
		{"what cannot be done to what runs share fails its task, and changes nothing", Shares, countsText},
		{"a cancelled run changes nothing more", Shares, countCancelled},
		{"an item has one winner, and its work is done once, whatever crashes", Shares, itemsOnce},
		{"work that is handed over and its message are there together, whatever crashes", Shares, handsOver},
		{"a message reaches its channels, and of equal ones the first, whatever crashes", Shares, messagesOnce},
		{"who claims work outside of a loop holds it by the newest token, and hands it over once", Shares, claimsOutside},
		{"what concerns a loop wakes the runs that listen, as few messages", Shares, loopsWake},
		{"an event reaches the runs that wait for it, once, whatever crashes", Shares, eventsOnce},
		{"an event starts one run for each subscription, whatever crashes", Shares, eventsStartOnce},
		{"an event wakes a parked run, and no other", Shares | Parks, eventsWake},
		{"an event does not reach a run that began later, or has ended", Shares, eventsOfTheirTime},
		{"events that an inbox has no room for take the place of older ones", Shares, eventsTooMany},
		{"the parties of a point go on together, and one is the last, whatever crashes", Shares, partiesMeet},
		{"a run that is cancelled leaves its point", Shares, partiesLeave},
		{"a person completes a point, and says why a party is not ready", Shares, partiesAndPeople},
		{"a child is a run of its own, and its end its parent's news", 0, childSucceeds},
		{"a child that fails says why", 0, childFails},
		{"a child that is there already is the one that is meant", 0, childIsThere},
		{"a hundred children", 0, manyChildren},
		{"children of children, as deep as they may be", 0, deepChildren},
		{"a crash at any commit of parent or child loses nothing", 0, crashWithChild},
		{"a crash at any commit of a cancel with a child", 0, crashWhileChildIsCancelled},
		{"a crash while a child runs", Blocks | Alone, crashInChild},
		{"a stop stops children, too", Blocks | Alone, stopWithChild},
		{"a cancel reaches children", Blocks, cancelWithChild},
		{"a second cancel reaches children", 0, cancelTwice},
		{"a child can be cancelled by itself", Blocks, cancelChildAlone},
		{"a parent hears of a child that was cancelled while nobody drove it", Blocks, cancelChildUndriven},
		{"a child that starts and is cancelled in one batch is never made", 0, childUnmade},
		{"an attempt is lost alone, and repeated with its number and key", Blocks | Workers, lostAlone},
		{"an attempt that is given back is handed out again, and nothing counts", Blocks | Workers, givenBack},
		{"an attempt that is cancelled and given back ends", Blocks | Workers, givenBackCancelled},
		{"a second answer changes nothing", Workers, answeredTwice},
		{"a driver that dies does not take the attempts of workers along", Blocks | Workers, keptByWorkers},
		{"a cancel reaches an attempt that outlived its driver", Blocks | Workers, keptAndCancelled},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.needs&^h.Kind != 0 {
				t.Skip("this host is of another kind")
			}
			if h.Parallel {
				t.Parallel()
			}
			s := h.NewStore(t)
			if h.Bubble {
				synctest.Test(t, func(t *testing.T) { test.run(t, s) })
			} else {
				test.run(t, s)
			}
		})
	}
}

// start makes a run or ends the test.
func start(t *testing.T, h Host, p Program) string {
	t.Helper()
	run, err := h.Start(context.Background(), p.Start())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// mustEnd drives a run to its end and checks its status.
func mustEnd(t *testing.T, s Store, h Host, run string, want event.Status) {
	t.Helper()
	if err := drive(context.Background(), s, h, run, nil); err != nil {
		t.Fatal(err)
	}
	end, err := h.Drive(context.Background(), run, nil)
	if err != nil || end.Status != want {
		t.Fatalf("the run ended %s (%v), want %s; %s", end.Status, err, want, failures(h, run))
	}
}

// events reads a journal, checks its chain, its numbers, its times and, with a fresh machine, its digests.
func events(t *testing.T, h Host, run string) []event.Event {
	t.Helper()
	list, err := read(h, run)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func read(h Host, run string) ([]event.Event, error) {
	all, _, err := readAll(h, run)
	return all, err
}

// failures says which attempts of a run did not succeed.
func failures(h Host, run string) (text string) {
	list, err := read(h, run)
	for _, ev := range list {
		if f := ev.AttemptFinished; f != nil && f.Error != nil {
			text += fmt.Sprintf("attempt %d of %s is %s: %s; ", f.Attempt, f.Node, f.Outcome, f.Error.Message)
		}
	}
	if err != nil {
		text += err.Error()
	}
	return text
}

// isEnded reports whether the journal of a run holds its end.
func isEnded(t *testing.T, h Host, run string) bool {
	t.Helper()
	_, end, err := readAll(h, run)
	if err != nil {
		t.Fatal(err)
	}
	return end != nil
}

func readAll(h Host, run string) ([]event.Event, *event.End, error) {
	var batches []journal.Batch
	header, definition, err := h.Journal(context.Background(), run, func(b journal.Batch) error {
		b.Body = slices.Clone(b.Body)
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	m, err := Factory(header, definition)
	if err != nil {
		return nil, nil, err
	}
	var all []event.Event
	var out event.Reaction
	fold := engine.NewFold(header, m)
	for _, b := range batches {
		list, err := fold.Replay(b, &out)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, list...)
	}
	for i := range all {
		if i > 0 && all[i].At < all[i-1].At {
			return nil, nil, errors.New("time runs back in the journal")
		}
	}
	return all, fold.End(), nil
}

// kinds is the sequence of events by kind.
func kinds(list []event.Event) []string {
	names := make([]string, len(list))
	for i, ev := range list {
		names[i] = ev.Kind()
	}
	return names
}

// diamond is a small program with all that a task can be.
func diamond() Program {
	return Program{Parallel: 3, Tasks: []Task{
		{Name: "a"},
		{Name: "b", After: []string{"a"}, Null: true, With: "b"},
		{Name: "c", After: []string{"a"}, Tries: 2},
		{Name: "w", After: []string{"a"}, Wait: 5e9},
		{Name: "d", After: []string{"b", "c", "w"}},
		{Name: "e", After: []string{"d"}, Null: true, With: "e"},
	}}
}
