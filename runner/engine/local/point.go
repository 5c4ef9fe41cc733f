package local

// Point is a moment at which the death of the process would find something done and the next thing not. Tests die at each of
// them in turn; nothing else listens.
type Point string

// The points of a driver, in the order in which it comes by them.
const (
	Appending Point = "appending" // a group of requests is in its transaction, which is not committed
	Committed Point = "committed" // it is durable, and none of those who asked has been told
	Marked    Point = "marked"    // the high-water mark says so too; nothing has been carried out
	Acting    Point = "acting"    // before each command
	Showing   Point = "showing"   // all commands are carried out, and nothing of it has been shown
	Shown     Point = "shown"     // the batch is over
)

// at tells that a point is reached.
func (o *Options) at(p Point) {
	if o.At != nil {
		o.At(p)
	}
}
