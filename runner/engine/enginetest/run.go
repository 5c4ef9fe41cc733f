package enginetest

import (
	"context"
	"errors"
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
		name     string
		blocking bool
		run      func(*testing.T, Store)
	}{
		{"a start is durable, and one however often it is asked for", false, startIsDurable},
		{"a run goes to its end", false, runsToEnd},
		{"an executor says when an attempt started, and not later than its end", false, startsOfOtherClocks},
		{"what is shown is durable", false, shownIsDurable},
		{"a run that ended is replayed and not repeated", false, endedIsReplayed},
		{"a run may end with its first event", false, endsAtOnce},
		{"unknown runs are refused", false, unknownRuns},
		{"timers fire in order and not early", false, timersFire},
		{"a failed attempt is tried again after its backoff", false, backoff},
		{"batches are bounded by number", false, boundedBatches},
		{"batches are bounded by size", false, boundedBytes},
		{"a stop is not a cancel", true, stopIsNoCancel},
		{"a stop keeps timers", false, stopKeepsTimers},
		{"a crash at any commit loses nothing", false, crashAnywhere},
		{"a crash loses what was in flight, and says so", true, crashInFlight},
		{"a broken commit is the last", false, brokenCommit},
		{"another machine is noticed", false, otherMachine},
		{"a cancel reaches live attempts", true, cancelLive},
		{"a cancel waits for a driver", false, cancelBeforeDrive},
		{"a cancel while nobody drives starts nothing again", false, cancelBetweenDrives},
		{"what starts and is cancelled in one batch never starts", false, cancelInBatch},
		{"a cancel comes from another process", true, cancelFromOutside},
		{"a cancel of what has ended does nothing", false, cancelAfterEnd},
		{"a message reaches the task that it is for", false, messageArrives},
		{"a message arrives once, whatever crashes", false, messageOnce},
		{"a message comes from another process", true, messageFromOutside},
		{"a message that nothing waits for is recorded", false, messageForNobody},
		{"a message of an unknown kind, or too large, is refused", false, messageRefused},
		{"an inbox is bounded", false, boundedInbox},
		{"a run has one driver", true, oneDriver},
		{"what runs share is given to one at a time", false, scarceInTurn},
		{"a null agent that needs an admission keeps nobody from a start", true, scarceNull},
		{"a refused attempt waits for its grant, and starts with its number and key", true, scarceGranted},
		{"a cancelled run leaves the line", true, scarceCancelled},
		{"a refused attempt can ask for another agent, with its number and key", true, scarceElsewhere},
		{"what a dead driver held goes to the next", true, scarceAfterDeath},
		{"no more attempts start than a rate limit allows, and none too late", false, pacedStarts},
		{"no more is spent than a quota allows in its span, and no attempt waits for too long", false, sharedSpending},
		{"a crash at any commit loses no grant of a rate limit or a breaker", false, limitsAtEveryCommit},
		{"a breaker opens, and one probe closes it", false, brokenAndProbed},
		{"runs that wait for it hear that a breaker has opened, and closed", false, brokenIsTold},
		{"runs that wait for it hear that a person has closed a breaker", false, resetIsTold},
		{"a breaker does not count what its condition leaves out", false, brokenByCondition},
		{"a probe that dies with its driver is lost, and the next one probes after the reset", true, probeDies},
		{"nothing of an agent starts before the moment that the other side named", false, heldByOther},
		{"nothing of an agent without bounds starts before the moment that the other side named", false, heldWithoutBounds},
		{"nothing of an agent that was stopped starts until it is started, whatever bounds it", false, stoppedAgents},
		{"an agent that is stopped while its attempt waits for a quota starts nothing, and keeps no other from the quota", false, stoppedInLine},
		{"what a run holds is free when the run ends, and not before", false, heldToTheEnd},
		{"a run that waits is parked, and woken when its timer is due", false, parkedAndWoken},
		{"a message wakes a parked run, and a cancel", false, parkedHears},
		{"a parked run has a driver, until the process ends", false, parkedHasADriver},
		{"a caller is parked with the run that it called", false, parkedFamily},
		{"a cancel wakes a parked caller, and a parked called run", false, parkedFamilyCancelled},
		{"a crash at any commit of parked callers and called runs loses nothing", false, parkedFamilyAtEveryCommit},
		{"a called run that waits for its turn is parked with its caller", false, parkedFamilyInLine},
		{"a grant wakes a parked run", true, parkedRefused},
		{"a run that cannot be driven gives its turn to the next", false, parkedInVain},
		{"a parked run that cannot be driven leaves the line", true, refusedInVain},
		{"a crash at any commit of parked and queued runs loses nothing", false, parkedAtEveryCommit},
		{"runs of a group take turns, in order", false, groupsQueue},
		{"a run is skipped while another of its group is under way", false, groupsSkip},
		{"a run cancels those of its group before it", false, groupsCancelPrevious},
		{"a run that waits for its turn can be cancelled", false, groupsCancelled},
		{"a run that waits for its turn gets its messages when it begins", false, groupsAndMessages},
		{"a dead process holds no turn", false, groupsOfTheDead},
		{"a run that comes back waits for the run that has the turn", false, groupsOfTheReturned},
		{"a parked run keeps its turn", false, groupsOfTheParked},
		{"a called run shares the turn of its caller", false, groupsOfChildren},
		{"called runs that share a turn take turns", false, groupsOfSiblings},
		{"an unknown when_busy is refused", false, groupUnknown},
		{"what runs share is changed once, whatever crashes", false, countsOnce},
		{"runs that count at once count all", false, countsTogether},
		{"what cannot be done to what runs share fails its task, and changes nothing", false, countsText},
		{"a cancelled run changes nothing more", false, countCancelled},
		{"an item has one winner, and its work is done once, whatever crashes", false, itemsOnce},
		{"work that is handed over and its message are there together, whatever crashes", false, handsOver},
		{"a message reaches its channels, and of equal ones the first, whatever crashes", false, messagesOnce},
		{"what concerns a loop wakes the runs that listen, as few messages", false, loopsWake},
		{"an event reaches the runs that wait for it, once, whatever crashes", false, eventsOnce},
		{"an event starts one run for each subscription, whatever crashes", false, eventsStartOnce},
		{"an event wakes a parked run, and no other", false, eventsWake},
		{"an event does not reach a run that began later, or has ended", false, eventsOfTheirTime},
		{"events that an inbox has no room for take the place of older ones", false, eventsTooMany},
		{"the parties of a point go on together, and one is the last, whatever crashes", false, partiesMeet},
		{"a run that is cancelled leaves its point", false, partiesLeave},
		{"a person completes a point, and says why a party is not ready", false, partiesAndPeople},
		{"a child is a run of its own, and its end its parent's news", false, childSucceeds},
		{"a child that fails says why", false, childFails},
		{"a child that is there already is the one that is meant", false, childIsThere},
		{"a hundred children", false, manyChildren},
		{"children of children, as deep as they may be", false, deepChildren},
		{"a crash at any commit of parent or child loses nothing", false, crashWithChild},
		{"a crash at any commit of a cancel with a child", false, crashWhileChildIsCancelled},
		{"a crash while a child runs", true, crashInChild},
		{"a stop stops children, too", true, stopWithChild},
		{"a cancel reaches children", true, cancelWithChild},
		{"a second cancel reaches children", false, cancelTwice},
		{"a child can be cancelled by itself", true, cancelChildAlone},
		{"a parent hears of a child that was cancelled while nobody drove it", true, cancelChildUndriven},
		{"a child that starts and is cancelled in one batch is never made", false, childUnmade},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.blocking && !h.Blocking {
				t.Skip("this host's attempts cannot block")
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
		t.Fatalf("the run ended %s (%v), want %s", end.Status, err, want)
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
	var batches []journal.Batch
	header, definition, err := h.Journal(context.Background(), run, func(b journal.Batch) error {
		b.Body = slices.Clone(b.Body)
		batches = append(batches, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	m, err := Factory(header, definition)
	if err != nil {
		return nil, err
	}
	var all []event.Event
	var out event.Reaction
	fold := engine.NewFold(header, m)
	for _, b := range batches {
		list, err := fold.Replay(b, &out)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	for i := range all {
		if i > 0 && all[i].At < all[i-1].At {
			return nil, errors.New("time runs back in the journal")
		}
	}
	return all, nil
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
