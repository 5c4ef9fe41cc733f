package dsl

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/schema"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Many tools write HCL into files *.hcl. These kinds of block stand at the top of files of others, too: variable and locals in
// those of Terraform, Terragrunt, Packer and Nomad, agent and quota in the access rules of Nomad and Consul.
var sharedKinds = []string{"variable", "locals", "agent", "quota"}

// ownWord finds a line that begins a block which flowrun alone has, in a text that cannot be parsed.
var ownWord = func() *regexp.Regexp {
	own := slices.DeleteFunc(slices.Clone(schema.Blocks["file"].Blocks), func(k string) bool { return slices.Contains(sharedKinds, k) })
	return regexp.MustCompile(`(?m)^[ \t]*(` + strings.Join(own, "|") + `)[ \t]*["{]`)
}()

// Origin says which tool a file of HCL is for.
type Origin int

// What a file can be.
const (
	Foreign Origin = iota // of another tool, or of nobody
	Unclear               // it says nothing that flowrun alone understands, and nothing that flowrun doesn't
	Ours                  // its name, or a block that flowrun alone has, says so
)

// named reports whether the name of a file says that it is ours.
func named(name string) bool {
	return strings.HasSuffix(name, ".flow.hcl") || strings.HasSuffix(name, ".flowtest.hcl")
}

// OriginOf looks at the name of a file and at the blocks and attributes at its top.
func OriginOf(name string, data []byte) Origin {
	if named(name) {
		return Ours
	}
	f, list := syntax.Parse(name, data)
	return originOf(f, list.HasErrors())
}

// originOf is OriginOf for a file that was parsed; broken reports whether it has errors.
func originOf(f *syntax.File, broken bool) Origin {
	if named(f.Name) {
		return Ours
	}
	if broken {
		if ownWord.Match(f.Src) {
			return Ours
		}
		return Foreign
	}
	origin := Unclear
	if len(f.Body.Attrs) > 0 {
		origin = Foreign
	}
	top := schema.Blocks["file"]
	for _, b := range f.Body.Blocks {
		switch {
		case schema.Blocks["flowtest"].Has(b.Kind):
			return Ours
		case !top.Has(b.Kind):
			origin = Foreign
		case !slices.Contains(sharedKinds, b.Kind):
			return Ours
		}
	}
	return origin
}

// Own reads the files that [Load] would read, as [Files] does, and tells those of other tools apart. Whether an unclear file
// is one of ours, the program of its folder tells.
func Own(fsys fs.FS, name string, opts Options) (own, foreign []File, list diag.List) {
	all, list := Files(fsys, name, opts)
	var unclear []File
	ours := false
	for _, f := range all {
		switch OriginOf(f.Name, f.Data) {
		case Ours:
			own, ours = append(own, f), true
		case Unclear:
			unclear = append(unclear, f)
		default:
			foreign = append(foreign, f)
		}
	}
	if !ours && len(unclear) == 1 && len(all) == 1 {
		ours = amongOurs(fsys, name, opts)
	}
	for _, f := range unclear {
		if ours {
			own = append(own, f)
		} else {
			foreign = append(foreign, f)
		}
	}
	slices.SortFunc(own, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return own, foreign, list
}

// amongOurs reports whether a file belongs to a program of its folder, of which another file is ours.
func amongOurs(fsys fs.FS, name string, opts Options) bool {
	beside, _ := Files(fsys, path.Dir(name), opts)
	return slices.ContainsFunc(beside, func(f File) bool { return f.Name == opts.show(name) }) &&
		slices.ContainsFunc(beside, func(f File) bool { return OriginOf(f.Name, f.Data) == Ours })
}
