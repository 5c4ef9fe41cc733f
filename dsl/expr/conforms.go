package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// printer puts the reasons of the schema library into English.
var printer = message.NewPrinter(language.English)

// schemaName stands in for a URL: a schema is a value, and nothing is ever loaded.
const schemaName = "flowrun:schema"

// maxMisfits bounds how many places of a value are named that do not fit.
const maxMisfits = 5

// noLoader refuses references to other documents.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is another document, and none is ever loaded; write it under $defs", url)
}

// CompileSchema reads a JSON Schema: a value, or its text. Without $schema it is of draft 2020-12.
func CompileSchema(schema value.Value) (*jsonschema.Schema, error) {
	if text, ok := schema.(string); ok {
		v, err := value.Decode([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("the schema is not JSON: %w", err)
		}
		schema = v
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaName, schema); err != nil {
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	}
	s, err := c.Compile(schemaName)
	if err != nil {
		return nil, fmt.Errorf("the schema is not one: %s", schemaFault(err))
	}
	return s, nil
}

// Conforms implements [ir.Evaluator]. A schema is compiled once for each evaluator.
func (ev *Evaluator) Conforms(schema, v value.Value) error {
	key := string(value.Append(nil, schema))
	s := ev.schemas[key]
	if s == nil {
		var err error
		if s, err = CompileSchema(schema); err != nil {
			return err
		}
		ev.schemas[key] = s
	}
	return misfit(s.Validate(v))
}

// misfit puts what does not fit into one line: the places in the value, each with its reason.
func misfit(err error) error {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var found []string
	var leaves func(e *jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			found = append(found, fmt.Sprintf("at /%s: %s", strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(printer)))
		}
		for _, c := range e.Causes {
			leaves(c)
		}
	}
	leaves(invalid)
	slices.Sort(found)
	if more := len(found) - maxMisfits; more > 0 {
		found = append(found[:maxMisfits], fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(found, "; "))
}

// schemaFault is the reason without the name that stands in for a URL.
func schemaFault(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		return misfit(invalid.Err).Error()
	}
	return strings.ReplaceAll(err.Error(), schemaName, "")
}
