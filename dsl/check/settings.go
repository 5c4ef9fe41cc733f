package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// settings checks the flowrun block: that this release is one that the program asks for, and the engine one that it has.
func (c *checker) settings(b *Block) {
	if a := b.attr("required_version"); a != nil && a.Text != "" {
		asks, err := parseVersions(a.Text)
		d := diag.Diagnostic{Code: "F0276", Subject: a.span(), Context: b.Words()}
		this, known := parseVersion(c.options.Version)
		switch {
		case err != nil:
			d.Summary = fmt.Sprintf("%.40q is not a valid required_version", a.Text)
			d.Detail = upper(err.Error()) + `. It is a list of constraints, such as ">= 0.3, < 2"; all must be satisfied.`
		case known && !asks.hold(this):
			d.Summary = fmt.Sprintf("This program needs flowrun %.40s", a.Text)
			d.Detail = fmt.Sprintf("This is flowrun %s. Use a release that fits, or change required_version if the program runs with this one.", c.options.Version)
		default:
			return
		}
		c.report(d)
	}
	if a := b.attr("engine"); a != nil && a.Text != "" && a.Text != LocalEngine && !EngineAddress().MatchString(a.Text) {
		d := diag.Diagnostic{Code: "F0277", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("Unknown engine %.60q", a.Text),
			Detail: `Engines are the store of this machine:  engine = "local",  and a Temporal server:  engine = "temporal://HOST:PORT/NAMESPACE".`}
		if strings.HasPrefix(a.Text, "temporal://") {
			d.Summary = fmt.Sprintf("%.60q is not the address of a Temporal server", a.Text)
			d.Detail = `Write the host, the port and the namespace:  engine = "temporal://HOST:PORT/NAMESPACE".  ?queue=NAME after the namespace names the task queue.`
		}
		c.report(d)
	}
}

// LocalEngine is the engine of this machine.
const LocalEngine = "local"

// EngineAddress matches the address of a Temporal server, as the host of these runs reads it.
var EngineAddress = lazyregexp.New(`^temporal://(?:[^\s/?#@:%\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}/*[^\s/?#%]*/*(?:\?queue=[^\s&#=;%]+)?$`)

// Engine is the address of the Temporal server that the program names; "" for the store of the machine.
func (p *Program) Engine() string {
	if p.Settings == nil {
		return ""
	}
	if a := p.Settings.attr("engine"); a != nil && a.Text != LocalEngine {
		return a.Text
	}
	return ""
}

// version is major, minor and patch. What stands behind a dash, as in 0.3.0-dev, is not compared: a build on the way to a
// release has what the release will have.
type version [3]int

var versionForm = lazyregexp.New(`^v?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(?:[-+][0-9A-Za-z.+-]*)?$`)

func parseVersion(text string) (v version, ok bool) {
	m := versionForm().FindStringSubmatch(text)
	if m == nil {
		return v, false
	}
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // left out is 0
	}
	return v, true
}

func (v version) compare(w version) int {
	for i := range v {
		if v[i] != w[i] {
			return v[i] - w[i]
		}
	}
	return 0
}

// bound is one part of required_version.
type bound struct {
	op string
	v  version
}

type bounds []bound

var boundForm = lazyregexp.New(`^(>=|<=|!=|>|<|=)?\s*(\S+)$`)

func parseVersions(text string) (out bounds, err error) {
	for _, part := range strings.Split(text, ",") {
		m := boundForm().FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return nil, fmt.Errorf("%.40q is not a constraint", strings.TrimSpace(part))
		}
		v, ok := parseVersion(m[2])
		if !ok {
			return nil, fmt.Errorf("%.40q is not a version", m[2])
		}
		out = append(out, bound{m[1], v})
	}
	return out, nil
}

func (bs bounds) hold(v version) bool {
	for _, b := range bs {
		c := v.compare(b.v)
		if !map[string]bool{">=": c >= 0, "<=": c <= 0, ">": c > 0, "<": c < 0, "!=": c != 0, "=": c == 0, "": c == 0}[b.op] {
			return false
		}
	}
	return true
}
