package ir

// Classify gives the errors for which a condition over error, attempt and elapsed holds another kind.
type Classify struct {
	When Expr      `json:"when"`
	Kind ErrorKind `json:"kind"`
}
