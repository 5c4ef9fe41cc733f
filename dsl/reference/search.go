package reference

import (
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/dsl/schema"
)

// asked are words that readers look for, by the page that answers: a how-to, or a block of the language. The search of the site finds the
// pages by them, and explain prints the page for a word that nothing else explains.
var asked = map[string]string{
	"howto.agent":     "claude codex gemini goose aider llm ai model prompt coding assistant preset gate review",
	"howto.approve":   "approval approve approver confirm confirmation human person manual sign-off question decide decision",
	"howto.budget":    "budget cost costs tokens money spend spending dollars usd price",
	"howto.call":      "call child workflow workflows subworkflow sub-workflow module reuse compose composition",
	"howto.ci":        "ci github actions action lint pull request validate pre-commit",
	"howto.cleanup":   "clean-up cleanup finally rollback undo saga compensate compensation always always() teardown defer ensure",
	"howto.claim":     "claim claims lease leases renew token fencing take work hand-over handover release",
	"howto.condition": "if when else unless condition skip conditional branch",
	"howto.escalate":  "escalate escalation escalations stronger fallback hand over second level",
	"howto.event":     "event events trigger emit on watch file changes subscribe",
	"howto.failure":   "failed fails error errors why debug debugging troubleshoot logs resume crash",
	"howto.list":      "for_each foreach for-each each matrix fan-out fan out fanout map iterate items array join",
	"howto.loop":      "loop backlog queue tickets todo dispatch fleet roadmap",
	"howto.machines":  "machine machines remote ssh host hosts server servers temporal worker workers distributed cluster runs-on",
	"howto.memory":    "memory remember learn learning learnings knowledge recall experience lesson lessons",
	"howto.once":      "mutex lock locks semaphore exclusive exclusion concurrency group quota cancel-in-progress singleton",
	"howto.parallel":  "parallel concurrent concurrency max_concurrency max-parallel fan-out fan out simultaneous simultaneously",
	"howto.rate":      "rate limit rate_limit rate-limit throttle throttling requests per minute 429 quota calls",
	"howto.reminder":  "remind reminder reminders me nudge deadline due progress expire give up",
	"howto.rerun":     "rerun re-run restart again retry corrected input correct resume from step set",
	"howto.retry":     "retry retries repeat again flaky backoff back-off attempts max_attempts",
	"howto.schedule":  "schedule scheduled scheduler cron crontab routine nightly daily weekly every clock timer overlap",
	"howto.secret":    "secret secrets password credential credentials redact redacted redaction mask masked masking sensitive key pass_env",
	"howto.share":     "share shared kv state counter cache store key-value",
	"howto.test":      "test tests testing mock mocks mocking stub stubs dry-run",
	"howto.timeout":   "timeout timeouts hang hangs kill time limit",
	"howto.tools":     "mcp tool tools server servers chat model function calling",
	"howto.typed":     "typed type types answer answers structured schema agent",
	"howto.values":    "value values output outputs json parse parameter parameters pass artifact",
	"howto.webhook":   "webhook webhooks github push gitlab signature hmac hook delivery",
	"howto.worktree":  "worktree worktrees branch branches commit git merge pull request",
	"channel":         "email e-mail mail slack ntfy smtp message messages notification notifications alert chat-message",
}

// language is the page of the language, as other pages of the folder name it.
const language = "language.md"

// SearchWords returns the words by which readers look for a page and which it may not have. A page is a file of the reference,
// such as "howto/retry.md", or a part of one, such as "language.md#step-name".
func SearchWords() map[string][]string {
	all := map[string][]string{}
	for page, words := range asked { // any order: it fills a table
		if name, is := strings.CutPrefix(page, "howto."); is {
			all["howto/"+name+".md"] = strings.Fields(words)
		} else {
			all[language+"#"+anchor(table().block(page))] = strings.Fields(words)
		}
	}
	return all
}

// answers returns the page that answers a word, or "".
func answers(word string) string {
	for _, page := range slices.Sorted(maps.Keys(asked)) {
		if slices.Contains(strings.Fields(asked[page]), strings.ToLower(word)) {
			return page
		}
	}
	return ""
}

// anchor is the id of a block's heading in the page of the language.
func anchor(b *Block) string {
	id := strings.ReplaceAll(b.Kind, ".", "")
	switch {
	case b.Kind == "file":
		id = "file-the-top"
	case b.Kind == "flowtest":
		id = "flowtest-the-top-of-a-test-file"
	case b.Label != "":
		id += "-" + strings.ToLower(b.Label)
	}
	return id
}

// inWords is a text to write that begins with words and not with code.
var inWords = lazyregexp.New(`^[a-z]+ [a-z]`)

// OtherTools is the page of the words of other tools: each with what to write. Words for the same thing share a part.
func OtherTools() string {
	words := map[string][]string{}
	for word, write := range schema.Meant { // any order: the words are sorted
		text := "Write " + code(write) + "."
		switch {
		case inWords().MatchString(write):
			text = prose("Write " + write + ".")
		case strings.Contains(write, "  "):
			text = prose("In flowrun, write  " + write + ".")
		}
		if link := linkTo(write[:len(write)-len(strings.TrimLeft(write, "abcdefghijklmnopqrstuvwxyz_"))]); link != "" {
			text += " More: " + link + "."
		}
		words[text] = append(words[text], word)
	}
	for word, instead := range schema.Absent { // any order: the words are sorted
		if schema.Meant[word] == "" {
			text := prose(strings.ReplaceAll(instead, "@", `"NAME"`))
			words[text] = append(words[text], word)
		}
	}
	type part struct{ title, text string }
	var parts []part
	for text, list := range words { // any order: the parts are sorted
		slices.Sort(list)
		parts = append(parts, part{strings.Join(list, ", "), text})
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.title, b.title) })
	w := &writer{}
	w.line("# Words of other tools\n\nGenerated by `go generate ./dsl/reference`. For each word of GitHub Actions, GitLab, Terraform, Temporal and other tools, this page says what to write in flowrun. `flowrun explain WORD` says the same.")
	for _, p := range parts {
		w.line("\n## " + markInDoc.ReplaceAllString(p.title, `\$0`) + "\n\n" + p.text)
	}
	return w.String()
}

// linkTo leads to what the page of the language says of a word: to its block, or to a block that has it as an attribute, of steps first.
func linkTo(word string) string {
	t := table()
	to := t.block(word)
	for _, b := range append([]Block{*t.block("step")}, t.Blocks...) {
		if to == nil && !b.Later && slices.ContainsFunc(b.Attributes, func(a Attribute) bool { return a.Name == word && !a.Later }) {
			to = &b
		}
	}
	if word == "" || to == nil {
		return ""
	}
	return "[" + code(word) + "](" + language + "#" + anchor(to) + ")"
}
