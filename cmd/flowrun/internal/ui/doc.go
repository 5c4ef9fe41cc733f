// Package ui is all that a person or a program sees of flowrun: diagnostics with their snippet and caret, the live tree
// of a run, one line per change where there is no terminal, JSON, listings.
//
// It knows terminals (width, colour, repainting), text (cells, control characters, durations) and the shapes that
// programs rely on. Everything shown comes from a diag.List, runner/view, runner/outline or a struct of its own; the package
// asks no engine, opens no file and decides nothing about a run.
//
// What always holds: text that came from a file, a command or an agent passes [Clean] before a terminal sees it, so
// that no output can move the cursor or change colours; colour never carries a meaning alone; a reader that went away
// (EPIPE) is not an error. Enter at [NewTerm], [Diagnostics], [NewLines], [NewTree], [NewEvents].
package ui
