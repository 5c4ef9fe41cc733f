package browser

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// maxPath is the longest path of a request that the server takes, in bytes: serve.MaxPath.
const maxPath = 4 << 10

var allHostile = flag.Bool("hostile.all", false, "look at the pages of each hostile text, and not of four")

// hostile are texts that want to become code, to leave their place, or to break the layout. A text that comes to run says so by alert or by
// window.hit.
var hostile = []struct{ what, text string }{
	{"script", `<script>alert(1);window.hit=1</script>`},
	{"script, upper case", `<SCRIPT SRC=data:text/javascript,window.hit=1></SCRIPT>`},
	{"image", `<img src=x onerror=alert(1)>`},
	{"image without an end", `<img src=x onerror="window.hit=1"`},
	{"out of a double quote", `" onmouseover="window.hit=1" autofocus onfocus="window.hit=1" x="`},
	{"out of a single quote", `' onmouseover='window.hit=1' autofocus onfocus='window.hit=1' x='`},
	{"out of no quote", "x onload=window.hit=1 autofocus onfocus=window.hit=1 `"},
	{"svg", `<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s>`},
	{"out of a drawing", `</text></svg><script>alert(1)</script><svg>`},
	{"style of a drawing", `<svg><style><img src=x onerror=alert(1)></style></svg>`},
	{"math", `<math><a xlink:href="javascript:alert(1)">x</a></math>`},
	{"frame", `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`},
	{"object", `<object data="data:text/html,<script>parent.hit=1</script>"></object><embed src=/x>`},
	{"details", `<details open ontoggle=alert(1)>`},
	{"video", `<video><source onerror=alert(1)></video>`},
	{"address", `javascript:window.hit=1//`},
	{"address with a line end", "java\nscript:window.hit=1"},
	{"link elsewhere", `<a href=//example.invalid/>click</a>`},
	{"base", `<base href="https://example.invalid/">`},
	{"refresh", `<meta http-equiv=refresh content="0;url=https://example.invalid/">`},
	{"form", `</form><form action=https://example.invalid/ method=post><button autofocus>ok</button>`},
	{"style", `</style><style>*{display:none!important}</style>`},
	{"style of an element", `<div style="position:fixed;inset:0;background:red;z-index:9999">`},
	{"stylesheet", `<link rel=stylesheet href=data:text/css,*{display:none}>`},
	{"out of the title", `</title><script>window.hit=1</script>`},
	{"out of a text area", `</textarea></pre></code></details><script>window.hit=1</script>`},
	{"out of the page", `</main></body></html><script>window.hit=1</script>`},
	{"out of a table", `</td></tr></tbody></table><h1>gone</h1>`},
	{"comment", `<!--`},
	{"end of a comment", `--><script>window.hit=1</script>`},
	{"CDATA", `<![CDATA[<script>window.hit=1</script>]]>`},
	{"entities", `&lt;script&gt;window.hit=1&lt;/script&gt;&#60;img src=x onerror=alert(1)&#62;`},
	{"escapes", `\u003cscript\u003ewindow.hit=1\u003c/script\u003e %3Cscript%3Ewindow.hit=1%3C/script%3E +ADw-script+AD4-`},
	{"no script", `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`},
	{"htmx", `<div hx-get=/audit hx-trigger=load hx-on::load="window.hit=1" data-hx-on:click="window.hit=1">`},
	{"event stream", "\n\nevent: change\ndata: <script>window.hit=1</script>\n\n"},
	{"templates", `{{.}} ${7*7} {{constructor.constructor('window.hit=1')()}} <%= 7*7 %>`},
	{"terminal", "\x1b]8;;javascript:window.hit=1\x07link\x1b]8;;\x07 \x1b[31m<b>red\x1b[8mhidden"},
	{"directions", "\u202egnp.exe\u202c \u2066left\u2069 \u200b\u200d\ufeff"},
	{"marks", "z" + strings.Repeat("\u0310\u0334\u0489", 200)},
	{"one long word", strings.Repeat("W", 5000)},
	{"many lines", strings.Repeat("line\n", 400)},
}

// post sends a form as a page does.
func (h *house) post(path string, form url.Values) {
	h.t.Helper()
	r, err := http.NewRequest("POST", h.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", h.at)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		h.t.Fatal(err)
	}
	answer.Body.Close()
}

// TestHostile gives a run texts that want to be code, in each place where a run has texts, and looks at all pages and at the exported file: no
// text runs, asks for something from elsewhere, becomes an element, or makes a page wider than the screen.
func TestHostile(t *testing.T) {
	h, b := open(t)
	texts := map[string]string{}
	for _, x := range hostile {
		texts[x.text] = x.text
	}
	if len(texts) < 40 {
		t.Fatalf("%d texts", len(texts))
	}
	given, err := json.Marshal(map[string]any{"texts": texts})
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("hostile.flow.hcl")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(h.dir, "hostile")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"flow.hcl": program, "vars.json": given} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.flowrun("4", "apply", "hostile/flow.hcl", "--var-file", "hostile/vars.json", "--no-wait", "--store", ".flowrun")
	var lessons []byte
	for i, x := range hostile {
		line, _ := json.Marshal(map[string]string{"id": fmt.Sprintf("h%d", i), "text": x.text}) // strings
		lessons = append(append(lessons, line...), '\n')
		h.post("/dispatch", url.Values{"title": {x.text}, "to": {x.text}}) // one of several lines is refused
		h.post("/events", url.Values{"event": {"hostile"}, "data": {string(line)}})
		h.post(fmt.Sprintf("/letters/%s/drop", url.PathEscape(x.text)), nil) // there is no such letter; the audit has its name
	}
	if err := os.WriteFile(filepath.Join(h.dir, "lessons.jsonl"), lessons, 0o600); err != nil {
		t.Fatal(err)
	}
	h.flowrun("0", "memory", "import", "lessons.jsonl", "--embedder", "none")
	run := "/runs/" + h.runs()["hostile"]
	exported := filepath.Join(h.dir, "run.html")
	h.flowrun("0", "export", strings.TrimPrefix(run, "/runs/"), "--output", exported)
	pages := map[string]string{"now": "/", "runs": "/runs", "run": run, "graph": run + "?tab=graph", "timeline": run + "?tab=timeline", "definition": run + "?tab=definition",
		"picture": run + "/graph.svg", "inbox": "/inbox", "loops": "/loops", "letters": "/letters", "audit": "/audit", "memory": "/memory", "limits": "/limits", "exported": "file://" + exported}
	for _, step := range []string{"say", "value", "stop", "ask"} {
		pages["below "+step] = run + "?under=" + step
	}
	for i, x := range hostile {
		q := url.QueryEscape(x.text)
		if i%11 != 0 && !*allHostile {
			continue
		}
		for _, step := range []string{"say", "value", "stop", "ask"} {
			path := url.QueryEscape(step+"[") + q + "]"
			if len(path) > maxPath/2 { // the pages name it by its hash
				sum := sha256.Sum256([]byte(step + "[" + x.text + "]"))
				path = "sha256:" + hex.EncodeToString(sum[:16])
			}
			pages[step+" "+x.what] = run + "/node?path=" + path
		}
		if 3*len(q) > maxPath { // longer addresses are refused
			continue
		}
		pages["search "+x.what] = "/runs?text=" + q + "&workflow=" + q + "&status=" + q
		pages["login "+x.what] = "/login?next=" + q
		pages["nowhere "+x.what] = "/runs/" + url.PathEscape(strings.ReplaceAll(x.text[:min(len(x.text), 300)], "/", "|"))
		pages["numbers "+x.what] = "/numbers?by=" + q + "&since=" + q
		pages["memory "+x.what] = "/memory?text=" + q
	}
	seen, loads := map[string]bool{}, 0
	for _, width := range []int{360, 1200} {
		b.size(width)
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			what := fmt.Sprintf("%s at %d", name, width)
			if width > 360 && len(name) > len("below value") && !*allHostile {
				continue // the page of one text
			}
			if address := pages[name]; strings.HasPrefix(address, "file:") {
				b.do(chromedp.Navigate(address))
			} else {
				b.open(address)
			}
			loads++
			if name == "picture" {
				b.clean(what)
				continue
			}
			found := b.says(`(() => {
				const wrong = [];
				if (window.hit) wrong.push("a text has run");
				const strange = document.querySelectorAll("main script, main img, main iframe, main object, main embed, main video, main math, main base, main meta, main link, main style, main animate, main h1 ~ h1, main [onload], main [onerror], main [onfocus], main [onmouseover], main [ontoggle], main [onclick], main [style], main [hx-get], main [data-hx-get]");
				for (const e of strange) wrong.push("an element: " + e.outerHTML.slice(0, 200));
				for (const a of document.querySelectorAll("a[href], form[action]")) {
					const at = new URL(a.getAttribute("href") ?? a.getAttribute("action"), document.baseURI);
					if (at.origin !== location.origin) wrong.push("an address elsewhere: " + at);
				}
				if (document.querySelectorAll("main").length !== 1) wrong.push("not one main part");
				if (document.querySelectorAll("body > header, body > nav").length < 1 && location.protocol !== "file:") wrong.push("no head of the page");
				if (document.documentElement.scrollWidth > innerWidth) {
					const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("svg, pre")).map(e => e.tagName + "." + e.className);
					wrong.push((document.documentElement.scrollWidth - innerWidth) + " pixels too wide: " + [...new Set(wide)].slice(0, 6));
				}
				if (getComputedStyle(document.body).display === "none") wrong.push("the page is not shown");
				return wrong.join("\n");
			})()`)
			if found != "" {
				t.Errorf("%s: %s", what, found)
			}
			text := b.says("document.body?.textContent ?? ('no body at ' + location)")
			if strings.HasPrefix(text, "no body at ") {
				t.Errorf("%s: %s", what, text)
			}
			for _, x := range hostile {
				if part := strings.TrimSpace(strings.SplitN(x.text, "\n", 2)[0]); part != "" && strings.Contains(text, part[:min(len(part), 30)]) {
					seen[x.what] = true
				}
			}
			b.clean(what)
		}
	}
	for _, x := range hostile {
		if !seen[x.what] && x.what != "terminal" && x.what != "event stream" && x.what != "directions" /* shown as escapes */ {
			t.Errorf("no page shows the text %q, so nobody knows whether it is harmless", x.what)
		}
	}
	t.Logf("%d texts, %d pages, %d loads", len(hostile), len(pages), loads)
}
