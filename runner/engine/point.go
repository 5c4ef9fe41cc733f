package engine

// Point is a moment between two actions of a driver, where the driver may die. Only tests listen to
// points: they kill the process at each of them in turn.
type Point string

// The points of a driver, in order.
const (
	Writing   Point = "writing"   // before the file of an artifact or a snapshot is made
	Naming    Point = "naming"    // the file is durable, and has not its name
	Named     Point = "named"     // the file has its name, which is not durable
	Appending Point = "appending" // a group of requests is in its transaction, which is not committed
	Committed Point = "committed" // the transaction is durable, and no requester has been told
	Marked    Point = "marked"    // the high-water mark says so too; no command has been carried out
	Acting    Point = "acting"    // before each command
	Showing   Point = "showing"   // all commands are carried out, and nothing has been shown
	Shown     Point = "shown"     // the batch is over
)
