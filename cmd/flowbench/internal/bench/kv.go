package bench

// kvSteps measures steps that write to keys of their own. Each is a commit of the state and its answer, and a commit of the journal; the
// operations of a fan-out share both, and in a chain the two are one. The floor writes the same rows, in transactions as large as those of
// the run.
func kvSteps(l *lab) ([]figure, error) {
	least := []string{"kv"}
	n := l.n(20_000)
	fan, err := l.durable("kv, fan-out", n, least, atLeast(0.5), bound{}, workflow(forEach("s", n, kvSet("k/${each.key}"))))
	if err != nil {
		return fan, err
	}
	n = l.n(2_000)
	one, err := l.durable("kv, chain", n, least, bound{}, bound{}, workflow(chain(n, kvSet("k"))))
	return append(fan, one...), err
}

func kvSet(key string) string {
	return "kv {\n      set   = \"" + key + "\"\n      value = 1\n    }"
}
