package dsl

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
)

// MaxSiblingBytes bounds how much text beside a file is read to say where a name is declared.
const MaxSiblingBytes = 1 << 20

// siblings adds to findings about unknown names where a file beside the loaded one declares them: a file is loaded
// alone, and whoever names it alone may not know that. Files that don't parse are passed over.
func siblings(fsys fs.FS, name string, opts Options, list diag.List, sources map[string][]byte) {
	var declared map[string]string // "variable x" -> file
	for i, d := range list {
		kind, is := unknownKind(d)
		if !is {
			continue
		}
		if declared == nil {
			declared = declarations(fsys, name, opts)
		}
		src := sources[d.Subject.File]
		text := string(src[min(d.Subject.Start.Byte, len(src)):min(d.Subject.End.Byte, len(src))])
		text = text[strings.LastIndexByte(text, '.')+1:]
		if file := declared[kind+" "+text]; file != "" {
			list[i].Detail = fmt.Sprintf("It is declared in %s, and this file was loaded alone. Name the folder to load all of its files.", file)
			list[i].Notes, list[i].Edit = nil, nil
		}
	}
}

// unknownKind tells which kind of declaration a finding misses.
func unknownKind(d diag.Diagnostic) (string, bool) {
	rest, is := strings.CutPrefix(d.Summary, "Unknown ")
	kind, _, _ := strings.Cut(rest, " ")
	return kind, is && (kind == "variable" || kind == "local" || kind == "agent" || kind == "pool" || kind == "gate")
}

// declarations lists what the other files of a file's folder declare at the top.
func declarations(fsys fs.FS, name string, opts Options) map[string]string {
	out := map[string]string{}
	paths, _ := inFolder(fsys, path.Dir(name), "")
	left := MaxSiblingBytes
	for _, p := range paths {
		info, err := fs.Stat(fsys, p)
		if p == name || err != nil || info.Size() > int64(left) {
			continue
		}
		left -= int(info.Size())
		data, err := readFile(fsys, p, opts)
		if err != nil {
			continue
		}
		f, _ := opts.Limits.Parse(opts.show(p), data)
		for _, b := range f.Body.Blocks {
			for _, a := range b.Body.Attrs {
				if b.Kind == "locals" {
					out["local "+a.Name] = f.Name
				}
			}
			if len(b.Labels) == 1 {
				out[b.Kind+" "+b.Labels[0].Text] = f.Name
			}
		}
	}
	return out
}
