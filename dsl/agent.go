package dsl

import (
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Agent is the block of an agent, laid out as fmt does it: as it stands in the file or, expanded, with what its preset gives it. It is nil
// if the program has no such agent or errors.
func (p *Program) Agent(name string, expanded bool) []byte {
	if p.IR == nil {
		return nil
	}
	for _, f := range p.core.Files {
		src := f.Src
		if !expanded {
			src = p.Sources[f.Name]
		}
		if text := agentIn(f.Name, src, name); text != nil {
			return text
		}
	}
	return nil
}

// agentIn is the block of an agent in the text of a file, or nil.
func agentIn(file string, src []byte, name string) []byte {
	parsed, list := syntax.Parse(file, src)
	if list.HasErrors() {
		return nil
	}
	for _, b := range parsed.Body.Blocks {
		if b.Kind != "agent" || len(b.Labels) != 1 || b.Labels[0].Text != name {
			continue
		}
		text := append(parsed.Src[b.Range.Start.Byte:b.End:b.End], '\n')
		if laid, list := format.Format(file, text); !list.HasErrors() {
			return laid
		}
		return text
	}
	return nil
}
