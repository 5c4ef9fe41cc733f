package given

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// Bounds of files, in bytes.
const (
	MaxFile    = 1 << 20  // of one value
	MaxVarFile = 16 << 20 // of variables, or of an environment
)

// FileError says why a file cannot be used that could be read. It begins with the file's name.
type FileError struct{ text string }

func (e *FileError) Error() string { return e.text }

func fileErrorf(format string, args ...any) error { return &FileError{fmt.Sprintf(format, args...)} }

// ReadBounded reads at most so many bytes of a file.
func ReadBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// readText reads a file of values.
func readText(name string) ([]byte, error) {
	data, err := ReadBounded(name, MaxVarFile+1)
	switch {
	case err != nil:
		return nil, err
	case len(data) > MaxVarFile:
		return nil, fileErrorf("%s is larger than %d bytes", name, MaxVarFile)
	case !utf8.Valid(data):
		return nil, fileErrorf("%s is not UTF-8 text", name)
	}
	return data, nil
}

// Environment has the variables of a file of an environment.
type Environment map[string]string

// Variable gives the text for a variable of a program: FLOWRUN_VAR_x is preferred to x. All other names belong to other programs.
func (e Environment) Variable(name string) (string, bool) {
	text, ok := e[VarPrefix+name]
	if !ok {
		text, ok = e[name]
	}
	return text, ok
}

// ReadEnvFile reads a file of an environment: NAME=VALUE lines. The error is a *FileError where the file could be read.
func ReadEnvFile(name string) (Environment, error) {
	data, err := readText(name)
	if err != nil {
		return nil, err
	}
	texts, err := parseEnvFile(string(data))
	if err != nil {
		return nil, fileErrorf("%s: %v", name, err)
	}
	return texts, nil
}

// ReadVarFile reads variables from a file: attributes with literal values, or one JSON object. The error is a *FileError where the file
// could be read.
func ReadVarFile(name string) (map[string]value.Value, error) {
	data, err := readText(name)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(name) != ".json" && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return readLiterals(name, data)
	}
	v, err := value.Decode(data)
	object, ok := v.(map[string]any)
	switch {
	case err != nil:
		return nil, fileErrorf("%s: its JSON cannot be read%s. %s", name, placeOf(data, err),
			"Texts need quotes, numbers have at most 15 digits, and each name appears once in an object")
	case !ok:
		return nil, fileErrorf("%s: one JSON object is needed", name)
	}
	return object, nil
}

// placeOf says where JSON cannot be read. The rest of the error may quote a secret.
func placeOf(data []byte, err error) string {
	var at int
	if _, no := fmt.Sscanf(err.Error(), "at byte %d:", &at); no != nil || at > len(data) {
		return ""
	}
	line := bytes.Count(data[:at], []byte("\n"))
	return fmt.Sprintf(", at line %d, column %d", line+1, utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1:at])+1)
}

// readLiterals reads NAME = VALUE lines. Errors say where a flaw is, and do not quote it: it may be a secret.
func readLiterals(name string, data []byte) (map[string]value.Value, error) {
	f, list := syntax.Parse(name, data)
	if len(f.Body.Blocks) > 0 && !list.HasErrors() {
		return nil, fileErrorf("%s: a line is name = value; blocks are not allowed here", f.Body.Blocks[0].Range)
	}
	out := map[string]value.Value{}
	of := ""
	for _, attr := range f.Body.Attrs {
		e, found := expr.Value(attr.Expr(), f.Src, &expr.Env{})
		if list = append(list, found...); e != nil && e.Kind == ir.Const {
			out[attr.Name] = e.Const
		} else if of == "" && !list[:len(list)-len(found)].HasErrors() {
			of = fmt.Sprintf("the value of %s", attr.Name)
		}
	}
	if list.HasErrors() {
		if of == "" {
			of = "this"
		}
		return nil, fileErrorf("%s: %s cannot be read. A line is name = value, and a text needs quotes:  name = \"text\"", list[0].Subject, of)
	}
	return out, nil
}
