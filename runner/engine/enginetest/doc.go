// Package enginetest is what every host of machines must pass. [Run] drives a host through starts, ends, stops, crashes at
// every commit, cancels, messages, timers and faults, called runs, groups of runs, admission, and parked runs. It uses a small
// machine of its own ([Program]), so that what it asks of a host owes nothing to flowrun's machine.
//
// A host comes with a [Harness]: how to make a store, open a host on it, crash it and move its time. The package is for
// tests only and imports no host and not runner/machine.
package enginetest
