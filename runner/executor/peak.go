package executor

import "context"

type peakKey struct{}

// WithPeak gives an attempt's context a place for the most memory that a process of its program used, in bytes. It stays 0 if the
// executor does not know.
func WithPeak(ctx context.Context, peak *int64) context.Context {
	return context.WithValue(ctx, peakKey{}, peak)
}

// NotePeak notes how much memory a process of the attempt's program used, where somebody wants to know.
func NotePeak(ctx context.Context, bytes int64) {
	if peak, _ := ctx.Value(peakKey{}).(*int64); peak != nil {
		*peak = max(*peak, bytes)
	}
}
