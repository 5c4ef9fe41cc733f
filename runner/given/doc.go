// Package given reads the values that a run is given for variables and inputs from files, and finds the sensitive ones again when the
// run goes on in another process.
//
// A journal never holds a sensitive value. It holds the [Place] from which the value was taken and a salted hash. [Search.Find] reads the
// place again and compares the hash. A [*Problem] says that the caller must ask a person.
//
// The package knows no command line: a value that a person typed is [Told], and nobody but the person has it. What always holds: no
// error quotes a value, or a text of a file that may be one. Enter at [Seal] and [Search.Find].
package given
