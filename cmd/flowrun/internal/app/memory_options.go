package app

import (
	"path/filepath"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/embed"
)

// memoryDir is the folder of memory.db: that of the runs, or the one that the program names.
func memoryDir(m *ir.Memory, store, program string) string {
	switch {
	case m == nil || m.Store == "":
		return store
	case filepath.IsAbs(m.Store):
		return m.Store
	}
	return filepath.Join(program, m.Store)
}

// memoryOptions are those of a program's memory.
func memoryOptions(m *ir.Memory) (memory.Options, error) {
	o := memory.Options{WordVectors: m.Embedder == nil || m.Embedder.Provider != "none", ConsolidateEvery: schema.DefaultConsolidateEvery, ShortTerm: memory.ShortTerm{Age: m.ShortTermAge}}
	if m.ConsolidateEvery != nil {
		o.ConsolidateEvery = *m.ConsolidateEvery
	}
	if m.ShortTermTasks != nil {
		o.ShortTerm.Tasks = *m.ShortTermTasks
	}
	var err error
	o.Embedder, err = embedder(m.Embedder)
	return o, err
}

// embedder is the one that a program names; nil for none, as none is needed to find words.
func embedder(e *ir.Embedder) (embed.Embedder, error) {
	if e == nil {
		return embed.Default(), nil
	}
	return embed.New(embed.Config{Name: e.Provider, Model: e.Model, URL: e.BaseURL, KeyEnv: e.KeyEnv})
}
