package diag

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// userinfo is what stands before the @ of a URL: mostly a password.
var userinfo = lazyregexp.New(`://[^\s/?#"'<>\\]*@`)

// HideUserinfo replaces each byte of a user name and password in the URLs of a text by an asterisk, so that no message quotes a
// password. The text keeps its length: carets below it stay where they belong.
func HideUserinfo(text string) string {
	if !strings.Contains(text, "://") { // most do not
		return text
	}
	return userinfo().ReplaceAllStringFunc(text, func(m string) string {
		const begin, end = len("://"), len("@")
		return m[:begin] + strings.Repeat("*", len(m)-begin-end) + "@"
	})
}
