package executor

import "context"

type withheldKey struct{}

// WithWithheld gives an attempt's context the variables of the driver's environment that its program must not inherit, not even by
// pass_env: secrets of the run were taken from them.
func WithWithheld(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, withheldKey{}, names)
}

// Withheld gives the names of [WithWithheld]; nil if there are none.
func Withheld(ctx context.Context) []string {
	names, _ := ctx.Value(withheldKey{}).([]string)
	return names
}
