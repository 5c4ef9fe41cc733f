package serve

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/flowrun/flowrun/runner/view"
)

// OpenAPI is the description of the API as OpenAPI 3.1, made of the routes and of the types of their bodies. A copy is committed as
// openapi.json.
func OpenAPI() []byte {
	g := &generator{schemas: map[string]any{}}
	paths := map[string]map[string]any{}
	for i := range routes {
		to := &routes[i]
		if paths[to.path] == nil {
			paths[to.path] = map[string]any{}
		}
		paths[to.path][strings.ToLower(to.method)] = g.operation(to)
	}
	doc := map[string]any{
		"openapi":    "3.1.0",
		"info":       map[string]any{"title": "flowrun", "version": "v1", "description": "The API of  flowrun serve. No request with GET changes anything; a request that changes something is recorded in the audit."},
		"paths":      paths,
		"security":   []any{map[string]any{"token": []any{}}},
		"components": map[string]any{"schemas": g.schemas, "securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}},
	}
	body, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("serve: " + err.Error()) // maps of texts by construction
	}
	return append(body, '\n')
}

type generator struct{ schemas map[string]any }

func (g *generator) operation(to *route) map[string]any {
	content := map[string]any{}
	if to.answer != nil {
		content["application/json"] = map[string]any{"schema": g.schema(reflect.TypeOf(to.answer))}
	} else {
		content[strings.SplitN(to.document, ";", 2)[0]] = map[string]any{}
	}
	op := map[string]any{
		"summary":     to.about,
		"operationId": operationID(to),
		"responses": map[string]any{
			"200":     map[string]any{"description": "Done.", "content": content},
			"default": map[string]any{"description": "It was refused, or failed.", "content": map[string]any{"application/json": map[string]any{"schema": g.schema(reflect.TypeOf(Error{}))}}},
		},
	}
	if to.parts {
		op["responses"].(map[string]any)["206"] = map[string]any{"description": "A part.", "content": content}
	}
	if to.open {
		op["security"] = []any{}
	}
	var params []any
	for _, part := range strings.Split(to.path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			params = append(params, map[string]any{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
		}
	}
	for _, q := range to.query {
		params = append(params, map[string]any{"name": q.name, "in": "query", "description": q.about, "schema": map[string]any{"type": q.kind}})
	}
	for _, h := range to.header {
		params = append(params, map[string]any{"name": h.name, "in": "header", "description": h.about, "schema": map[string]any{"type": h.kind}})
	}
	if params != nil {
		op["parameters"] = params
	}
	if to.raw {
		op["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": map[string]any{}}, "text/plain": map[string]any{}}}
	}
	if to.body != nil {
		op["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": g.schema(reflect.TypeOf(to.body))}}}
	}
	return op
}

// operationID names an operation: its method and the words of its path.
func operationID(to *route) string {
	id := strings.ToLower(to.method)
	for _, part := range strings.FieldsFunc(strings.TrimPrefix(to.path, "/api/v1"), func(c rune) bool { return strings.ContainsRune("/{}-.", c) }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

// schema is the JSON Schema of a type. A struct becomes a component by its name.
func (g *generator) schema(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeOf(view.Moment(0)):
		return map[string]any{"type": []any{"string", "null"}, "format": "date-time"}
	case t == reflect.TypeOf(json.RawMessage{}), t.Kind() == reflect.Interface:
		return map[string]any{}
	case t.Implements(reflect.TypeOf((*json.Marshaler)(nil)).Elem()):
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{g.schema(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": []any{"array", "null"}, "items": g.schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		return g.object(t)
	}
	if k := t.Kind(); k >= reflect.Int && k <= reflect.Uint64 {
		return map[string]any{"type": "integer"}
	}
	panic(fmt.Sprintf("serve: a type of the API that has no schema: %s", t))
}

func (g *generator) object(t reflect.Type) map[string]any {
	name := t.Name()
	if own := reflect.TypeOf(Error{}).PkgPath(); name != "" && t.PkgPath() != own { // another package may have the same name
		name = path.Base(t.PkgPath()) + "." + name
	}
	if name != "" {
		ref := map[string]any{"$ref": "#/components/schemas/" + name}
		if g.schemas[name] != nil {
			return ref
		}
		g.schemas[name] = map[string]any{}
	}
	properties, required := map[string]any{}, []any{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && tag == "":
				add(f.Type)
			case tag == "-" || !f.IsExported():
			default:
				if tag == "" {
					tag = f.Name
				}
				if properties[tag] = g.schema(f.Type); !strings.HasPrefix(options, "omit") {
					required = append(required, tag)
				}
			}
		}
	}
	add(t)
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	if name == "" {
		return o
	}
	g.schemas[name] = o
	return map[string]any{"$ref": "#/components/schemas/" + name}
}
