package chat

import "github.com/flowrun/flowrun/dsl/value"

// schemaOf is the JSON Schema of a type. Strict says that each object in it lists all that it has: OpenAI then guarantees the answer.
// Providers want an object at the top: another type wraps, and is the member value of one.
func schemaOf(t value.Type) (schema map[string]any, strict, wraps bool) {
	strict = true
	schema = typeSchema(t, &strict)
	if t.Kind != value.ObjectT && t.Kind != value.MapT || t.Nullable {
		wraps = true
		schema = object(map[string]any{"value": schema})
	}
	return schema, strict, wraps
}

func object(properties map[string]any) map[string]any {
	required := make([]any, 0, len(properties))
	for _, name := range value.Keys(properties) {
		required = append(required, name)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func typeSchema(t value.Type, strict *bool) map[string]any {
	var s map[string]any
	switch t.Kind {
	case value.Bool:
		s = map[string]any{"type": "boolean"}
	case value.NumberT:
		s = map[string]any{"type": "number"}
		if t.Int {
			s["type"] = "integer"
		}
	case value.StringT:
		s = map[string]any{"type": "string"}
		if len(t.Enum) > 0 {
			list := make([]any, len(t.Enum))
			for i, word := range t.Enum {
				list[i] = word
			}
			s["enum"] = list
		}
	case value.ListT, value.SetT:
		s = map[string]any{"type": "array", "items": typeSchema(*t.Elem, strict)}
	case value.TupleT:
		*strict = false
		list := make([]any, len(t.Elems))
		for i, e := range t.Elems {
			list[i] = typeSchema(e, strict)
		}
		s = map[string]any{"type": "array", "prefixItems": list, "minItems": float64(len(list)), "maxItems": float64(len(list))}
	case value.MapT:
		*strict = false
		s = map[string]any{"type": "object", "additionalProperties": typeSchema(*t.Elem, strict)}
	case value.ObjectT:
		properties := map[string]any{}
		for _, name := range t.Names() {
			member := t.Attrs[name]
			member.Nullable = member.Nullable || member.Optional // strict schemas require each member; null reads as left out
			properties[name] = typeSchema(member, strict)
		}
		s = object(properties)
	case value.Null:
		return map[string]any{"type": "null"}
	default: // any
		*strict = false
		return map[string]any{}
	}
	if t.Nullable {
		s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
	}
	return s
}
