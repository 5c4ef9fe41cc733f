package wire

// Names of what the server knows of questions to workers, and of the memory of runs. A worker that serves the memory takes work from [MemoryQueue].
const (
	Question      = "flowrun.question.v1"       // workflow: one question to a worker, with [Inquiry]; [Response] answers
	Answering     = "flowrun.answer.v1"         // local activity of it
	MemoryAttempt = "flowrun.memory.attempt.v1" // activity: the attempt of a step that writes to the memory or searches it, with [Task]
	Learn         = "flowrun.learn.v1"          // workflow: the memory learns from a run that ends, with the id of the run
	LearnRun      = "flowrun.learn.run.v1"      // activity of it
)

// MemoryQueue is the task queue of the memory of the runs of a store.
func MemoryQueue(store string) string { return "memory/" + store }

// LearnID is the id of the workflow that learns from a run.
func LearnID(run string) string { return "learn/" + run }

// Inquiry is a question to a worker. Whoever answers knows what Body is.
type Inquiry struct {
	What string `json:"what"`
	Run  string `json:"run,omitempty"` // on whose behalf it asks; "": a person asks
	Body []byte `json:"body,omitempty"`
}

// Response answers an [Inquiry].
type Response struct {
	Body  []byte `json:"body,omitempty"`
	Error string `json:"error,omitempty"`
}
