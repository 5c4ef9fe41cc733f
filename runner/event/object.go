package event

// Object returns an error as expressions see it; nil for none. A field that does not apply is null.
func (e *Error) Object() map[string]any {
	if e == nil {
		return nil
	}
	o := map[string]any{
		"kind": string(e.Kind), "reason": string(e.Reason), "message": e.Message, "exit_code": float64(e.ExitCode), "attempt": nil,
		"status": nil, "signal": textOrNull(e.Signal), "gate": textOrNull(e.Gate), "node": textOrNull(e.Node), "retry_after": nil,
	}
	if e.Attempt != 0 {
		o["attempt"] = float64(e.Attempt)
	}
	if e.Status != 0 {
		o["status"] = float64(e.Status)
	}
	if e.RetryAfter != 0 {
		o["retry_after"] = e.RetryAfter
	}
	return o
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
