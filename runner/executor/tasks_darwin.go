package executor

// tasks knows no limit: macOS counts processes by user and threads not at all, and both limits are large.
func tasks() (limit, used int, by string) { return 0, 0, "" }
