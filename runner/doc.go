// Package runner is the run service: all that a process needs to start runs, drive them and look at them, beside a host that keeps
// their journals and executors that carry out their attempts. The command line is one user of it.
//
// The package knows no particular host, no command line and no screen. It must never import a host, and its messages name no command.
//
// What always holds: a program is loaded once, however many runs pin it (programs.go). Enter at [Programs].
package runner
