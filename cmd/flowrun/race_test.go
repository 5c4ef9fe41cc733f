//go:build race

package main

// raceEnabled tells that the race detector slows this binary down.
const raceEnabled = true
