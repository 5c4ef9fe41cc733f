package diag

import "testing"

func TestHideUserinfo(t *testing.T) {
	for text, want := range map[string]string{
		`url = "https://me:sesame@example.com/a@b"`:            `url = "https://*********@example.com/a@b"`,
		`"http://me@h" and "http://h/x@y", ftp://a:b@c@d/ too`: `"http://**@h" and "http://h/x@y", ftp://*****@d/ too`,
		`"https://${var.user}:pw@${var.host}/"`:                `"https://**************@${var.host}/"`,
		`mail me@example.com`:                                  `mail me@example.com`,
		`"https://h" # write to me@h`:                          `"https://h" # write to me@h`,
	} {
		if got := HideUserinfo(text); got != want || len(got) != len(text) {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	list := List{{Summary: `"ftp://u:pw@h" is not a URL`, Detail: "See http://u:pw@h.", Notes: []Note{{Text: "http://u:pw@h"}}}}
	if d := list.Sort()[0]; d.Summary != `"ftp://****@h" is not a URL` || d.Detail != "See http://****@h." || d.Notes[0].Text != "http://****@h" {
		t.Errorf("%+v", d)
	}
}
