package web

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

// colours is a log as HTML: what programs colour for a terminal is coloured by classes, and all other control characters are shown as signs.
func colours(text string) template.HTML {
	var out strings.Builder
	var on []string // the classes that hold now
	write := func(s string) {
		if s == "" {
			return
		}
		s = template.HTMLEscapeString(ui.CleanLines(s))
		if len(on) > 0 {
			s = `<span class="` + strings.Join(on, " ") + `">` + s + `</span>`
		}
		out.WriteString(s)
	}
	for {
		at := strings.Index(text, "\x1b[")
		if at < 0 {
			break
		}
		end := at + 2
		for end < len(text) && (text[end] == ';' || text[end] >= '0' && text[end] <= '9') {
			end++
		}
		if end >= len(text) || text[end] != 'm' {
			write(text[:at+2])
			text = text[at+2:]
			continue
		}
		write(text[:at])
		on = selected(on, text[at+2:end])
		text = text[end+1:]
	}
	write(text)
	return template.HTML(out.String()) // every part of it was escaped above
}

// maxParameters bounds the parameters of one sequence that are read.
const maxParameters = 16

// selected are the classes that hold after a sequence that selects how text looks (SGR of ECMA-48).
func selected(on []string, parameters string) []string {
	list := strings.Split(parameters, ";")
	if len(list) > maxParameters {
		return on
	}
	without := func(prefix string) {
		kept := on[:0:0]
		for _, c := range on {
			if !strings.HasPrefix(c, prefix) {
				kept = append(kept, c)
			}
		}
		on = kept
	}
	for i := 0; i < len(list); i++ {
		n, _ := strconv.Atoi(list[i])
		switch {
		case n == 0:
			on = nil
		case n == 1:
			without("t-bold")
			on = append(on, "t-bold")
		case n == 2:
			without("t-faint")
			on = append(on, "t-faint")
		case n == 22:
			without("t-bold")
			without("t-faint")
		case n >= 30 && n <= 37 || n >= 90 && n <= 97:
			without("t-c")
			on = append(on, "t-c"+strconv.Itoa(n%10))
		case n == 39:
			without("t-c")
		case n == 38 || n == 48: // a colour of a palette: it is left out with its number
			if i+1 < len(list) && list[i+1] == "5" {
				i += 2
			} else {
				i += 4
			}
		}
	}
	return on
}
