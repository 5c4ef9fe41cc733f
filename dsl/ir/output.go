package ir

import "github.com/flowrun/flowrun/dsl/value"

// The outputs of actions whose type is always the same.
var (
	HTTPOutput    = value.Object(map[string]value.Type{"status": value.IntType, "headers": value.Map(value.StringType), "body": value.AnyType})
	EmitOutput    = value.Object(map[string]value.Type{"id": value.StringType, "duplicate": value.BoolType})
	SyncOutput    = value.Object(map[string]value.Type{"checked_in": value.List(value.StringType), "last": value.BoolType})
	HandoffOutput = value.Object(map[string]value.Type{"id": value.StringType})
	NotifyOutput  = value.Object(map[string]value.Type{"sent": value.List(value.StringType), "suppressed": value.List(value.StringType), "failed": value.List(value.StringType)})
)

// Output is the type of what the operation gives, where the step declares none.
func (o KVOperation) Output() value.Type {
	switch o {
	case KVIncr:
		return value.NumberType
	case KVCAS:
		return value.Object(map[string]value.Type{"swapped": value.BoolType, "value": value.AnyType})
	case KVDelete:
		return value.BoolType
	case KVScan:
		return value.Map(value.AnyType)
	case KVGet, KVSet:
	}
	return value.AnyType
}

// OutputType is the type of what an action gives, where its step declares none. A call gives an object of the outputs of its workflow.
func (p *Program) OutputType(a Action) value.Type {
	switch a := a.(type) {
	case *Run:
		switch {
		case a.OutputFile, a.Parse == ParseJSON:
		case a.Parse == ParseLines:
			return value.List(value.StringType)
		case a.Parse == ParseNone:
			return value.Type{Kind: value.Null, Nullable: true}
		default:
			return value.StringType
		}
	case *Call:
		attrs := map[string]value.Type{}
		for _, o := range p.Workflow(a.Workflow).Outputs {
			attrs[o.Name] = value.AnyType
		}
		return value.Object(attrs)
	case *Wait:
		if a.Data != nil {
			return *a.Data
		}
	case *Approve:
		inputs := map[string]value.Type{}
		for _, in := range a.Inputs {
			inputs[in.Name] = in.Type
		}
		return value.Object(map[string]value.Type{"decision": value.StringType, "by": value.List(value.StringType), "comment": value.StringType,
			"at": value.StringType, "input": value.Object(inputs)})
	case *HTTP:
		return HTTPOutput
	case *KV:
		return a.Operation.Output()
	case *Emit:
		return EmitOutput
	case *Sync:
		return SyncOutput
	case *Notify:
		return NotifyOutput
	case *Handoff:
		return HandoffOutput
	}
	return value.AnyType
}
