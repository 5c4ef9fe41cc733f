package syntax

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dsl/diag"
)

// The bounds of a file, checked on bytes before HCL sees them; [Limits] raise the first five. HCL itself has none: 100,000
// parentheses end the process with a stack overflow, and ten thousand cost 280 MB (measured with hcl v2.25.0).
const (
	MaxFileBytes    = 64 << 20 // a file
	MaxLineBytes    = 64 << 10 // a line; only a heredoc or a comment can be longer than one
	MaxHeredocBytes = 1 << 20  // the text of one heredoc, or of one comment
	MaxBlockBytes   = 1 << 20  // a block, without the blocks inside it
	MaxDepth        = 64       // brackets, braces and templates inside each other
	MaxOperators    = 1000     // operators in a row in one expression: a chain is a tree as deep as it is long
	MaxDigits       = 40       // digits of a number
	MaxExponent     = 400      // exponent of a number

	// MaxCopies bounds what HCL copies to put texts together, in bytes for each byte of the file, of which at least a MiB
	// is counted: 4,800 lines of 160 bytes in a heredoc. At the bound it takes 0.6 s for a file of a MiB; 500,000 lines of
	// one letter would take minutes (BenchmarkPieces).
	MaxCopies  = 4096
	pieceBytes = 16 // what HCL moves for each piece, besides the text
)

// scan normalizes the line ends and refuses what must not reach HCL. It stops at the first finding of each kind. It also
// cuts the text into segments, and notes what looks like an expansion of the shell.
func scan(name string, data []byte, most Limits) ([]byte, []segment, [][2]int, diag.List) {
	if len(data) > most.File {
		return nil, nil, nil, diag.List{{Code: "F0001", Subject: diag.Range{File: name},
			Summary: fmt.Sprintf("File of more than %s is too large", bytesText(most.File)),
			Detail:  fmt.Sprintf("A workflow file may have at most %s. Keep data in files of their own that a step reads.", bytesText(most.File)) + raise("file")}}
	}
	src := bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.Contains(src, []byte("\r\n")) {
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	}
	if list := characters(name, src, most.Line); len(list) > 0 {
		return src, nil, nil, list
	}
	if list := foreign(name, src); len(list) > 0 {
		return src, nil, nil, list
	}
	s := &scanner{name: name, src: src, most: most}
	s.stack = append(s.stack, frame{kind: 'F', body: true, open: true})
	s.run()
	return src, s.cut(), s.expansions, s.list
}

// characters finds bytes that are not text, or text that does not look like what it is, and lines that are too long.
func characters(name string, src []byte, most int) (list diag.List) {
	seen := map[string]bool{}
	report := func(at, size int, code, summary, detail string) {
		if !seen[code] {
			seen[code] = true
			list = append(list, diag.Diagnostic{Code: code, Summary: summary, Detail: detail, Subject: place(name, src, at, at+size)})
		}
	}
	line := 0
	for i := 0; i < len(src); {
		b := src[i]
		switch {
		case b == '\n':
			if i-line > most {
				report(line, 1, "F0005", fmt.Sprintf("Line of %d bytes is too long", i-line),
					tooLong(most))
			}
			line = i + 1
		case b == '\r':
			report(i, 1, "F0010", "Carriage return without a line feed",
				"Lines end with a line feed, or with a carriage return and a line feed. A carriage return alone hides text in many editors; in a string write \\r.")
		case b < ' ' && b != '\t', b == 0x7f:
			report(i, 1, "F0003", fmt.Sprintf("Control character U+%04X", b),
				fmt.Sprintf("A workflow file is plain text. In a string write \\u%04x for this character.", b))
		case b >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(src[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				report(i, 1, "F0002", fmt.Sprintf("Byte 0x%02X is not UTF-8", b),
					"Workflow files are UTF-8. Save the file in that encoding.")
			case r >= 0x80 && r < 0xa0:
				report(i, size, "F0003", fmt.Sprintf("Control character U+%04X", r),
					fmt.Sprintf("A workflow file is plain text. In a string write \\u%04x for this character.", r))
			case hidden(r):
				report(i, size, "F0004", fmt.Sprintf("Character U+%04X is invisible", r),
					fmt.Sprintf("Invisible characters, and characters that change the direction of text, can hide the real meaning of a file. In a string, write \\u%04x for this character.", r))
			}
			i += size
			continue
		}
		i++
	}
	if len(src)-line > most {
		report(line, 1, "F0005", fmt.Sprintf("Line of %d bytes is too long", len(src)-line),
			tooLong(most))
	}
	return list
}

func tooLong(most int) string {
	return fmt.Sprintf("A line may have at most %s. Break it up, or keep the data in a file that a step reads.", bytesText(most)) + raise("line")
}

// hidden tells whether a character has no shape of its own: zero-width ones, line separators, direction marks.
func hidden(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x061c, r == 0x180e, r == 0xfeff, r == 0x00ad:
		return true
	}
	return false
}

// place makes a range of two byte offsets on one line. Columns count characters, not clusters: it is for findings only.
func place(name string, src []byte, start, end int) diag.Range {
	return diag.Range{File: name, Start: position(src, start), End: position(src, end)}
}

func position(src []byte, at int) diag.Pos {
	at = min(at, len(src))
	line := bytes.Count(src[:at], []byte("\n")) + 1
	begin := bytes.LastIndexByte(src[:at], '\n') + 1
	return diag.Pos{Line: line, Column: Columns(src[begin:at]) + 1, Byte: at}
}

// Columns is how many columns a part of a line takes.
func Columns(text []byte) int { return utf8.RuneCount(text) }
