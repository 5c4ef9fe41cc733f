package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// ignoring is a comment that switches advice off: for the line that it stands on or before, or for its file.
var ignoring = lazyregexp.New(`(?:#|//)[ \t]*flowrun-ignore(-file)?:([ \t]*F[0-9]{4}(?:[ \t]*,[ \t]*F[0-9]{4})*)`)

// AdviceCodes are the codes of advice, in order.
var AdviceCodes = []string{"F0220", "F0257", "F0258", "F0259", "F0269", "F0270", "F0272", "F0286", "F0329"}

// hidden leaves out the advice that comments of the files switch off.
func (c *checker) hidden(files []*syntax.File) {
	for _, f := range files {
		if !bytes.Contains(f.Src, []byte("flowrun-ignore")) {
			continue
		}
		for _, m := range ignoring().FindAllSubmatchIndex(f.Src, -1) {
			codes := strings.FieldsFunc(string(f.Src[m[4]:m[5]]), func(r rune) bool { return strings.ContainsRune(", \t", r) })
			for _, code := range codes {
				if !slices.Contains(AdviceCodes, code) {
					at := bytes.Index(f.Src[m[0]:m[1]], []byte(code)) + m[0]
					c.report(diag.Diagnostic{Severity: diag.Warning, Code: "F0269", Subject: f.Range(at, at+len(code)), Summary: fmt.Sprintf("%s cannot be ignored", code),
						Detail: fmt.Sprintf("A comment can switch off advice, but not errors or warnings: %s.", list(AdviceCodes))})
				}
			}
			line, whole := f.Range(m[0], m[1]).Start.Line, m[2] >= 0
			own := len(bytes.TrimSpace(f.Src[bytes.LastIndexByte(f.Src[:m[0]], '\n')+1:m[0]])) == 0
			c.list = slices.DeleteFunc(c.list, func(d diag.Diagnostic) bool {
				return d.Severity == diag.Advice && slices.Contains(codes, d.Code) && d.Subject.File == f.Name &&
					(whole || d.Subject.Start.Line == line || own && d.Subject.Start.Line == line+1)
			})
		}
	}
}
