package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// module is a module that is linked into the program, the standard library, or a file of data inside of it.
type module struct {
	name, version string
	purl          string // "" for data
	sum           []byte // SHA-256: of the file of data; else what go.sum has, which is computed over all files of the module
	licence       string // its SPDX identifier, or several with " AND " between them
	licences      []file
}

// data are the files of other people that the program has inside, as NOTICE lists them.
var data = []struct{ file, version, licence, text string }{
	{"memory/embed/uselite/use-lite-en.int8.packed", "0.2.0", "Apache-2.0", "memory/embed/uselite/LICENSE.use-lite.Apache-2.0.txt"},
	{"memory/embed/glove/glove-en-100d.int8.packed", "1.1.0", "MIT", "memory/embed/glove/LICENSE.wink-embeddings.MIT.txt"},
	{"loop/zone/zoneinfo.zip", "2025c", "LicenseRef-public-domain", ""},
}

// modules reads from a binary which modules are linked into it, and finds their licences in the cache of modules.
func (r *release) modules(binary string) (out []module, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	goroot, err := output(r.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	out = []module{{name: "std", version: version, purl: "pkg:golang/std@" + version}}
	dirs := map[string]string{"std": goroot}
	args := []string{"list", "-m", "-f", "{{.Path}} {{.Dir}}"}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: a release is built from what others can get", d.Path)
		}
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(d.Sum, "h1:"))
		if err != nil || len(sum) != sha256.Size {
			return nil, errors.Join(err, fmt.Errorf("%s has the sum %q", d.Path, d.Sum))
		}
		out = append(out, module{name: d.Path, version: d.Version, purl: "pkg:golang/" + d.Path + "@" + d.Version, sum: sum})
		args = append(args, d.Path)
	}
	list, err := output(r.root, settings, "go", args...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(list, "\n") {
		path, dir, _ := strings.Cut(line, " ")
		dirs[path] = dir
	}
	for i := range out {
		if err := out[i].readLicences(dirs[out[i].name]); err != nil {
			return nil, fmt.Errorf("%s: %w", out[i].name, err)
		}
	}
	for _, d := range data {
		content, err := os.ReadFile(filepath.Join(r.root, d.file))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		m := module{name: d.file, version: d.version, sum: sum[:], licence: d.licence}
		if d.text != "" {
			text, err := os.ReadFile(filepath.Join(r.root, d.text))
			if err != nil {
				return nil, err
			}
			m.licences = []file{{name: filepath.Base(d.text), data: text}}
		}
		out = append(out, m)
	}
	return out, nil
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)[^/]*$`)

func (m *module) readLicences(dir string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.IsDir() || !licenceName.MatchString(n.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			return err
		}
		m.licences = append(m.licences, file{name: n.Name(), data: text})
		if m.licence == "" {
			m.licence = licenceOf(text)
		}
	}
	if m.licence == "" {
		return fmt.Errorf("no licence that is known was found in %s", dir)
	}
	return nil
}

// licenceOf recognizes the licences that modules of flowrun have; "" is another one.
func licenceOf(text []byte) string {
	words := string(bytes.Join(bytes.Fields(text), []byte(" ")))
	for _, l := range []struct{ part, id string }{
		{"covered by two different licenses: MIT and Apache", "MIT AND Apache-2.0"},
		{"Mozilla Public License", "MPL-2.0"},
		{"Apache License Version 2.0", "Apache-2.0"},
		{"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"},
		{"Permission to use, copy, modify, and/or distribute this software", "ISC"},
		{"endorse or promote products derived from", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
	} {
		if strings.Contains(words, l.part) {
			return l.id
		}
	}
	return ""
}

// The list of parts is CycloneDX 1.6 in JSON; only what is filled is declared.
type cycloneDX struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Ref      string    `json:"bom-ref"`
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licences []licence `json:"licenses"`
	Purl     string    `json:"purl,omitempty"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type licence struct {
	Licence struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"`
	} `json:"license"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// parts makes the list of parts of a binary.
func (r *release) parts(modules []module, program []byte) ([]byte, error) {
	sum := sha256.Sum256(program)
	main := module{name: "github.com/flowrun/flowrun", version: "v" + r.version, sum: sum[:], licence: "Apache-2.0"}
	main.purl = "pkg:golang/" + main.name + "@" + main.version
	list := cycloneDX{Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{Timestamp: r.at.Format(time.RFC3339), Component: main.component("application")}}
	needs := dependency{Ref: list.Metadata.Component.Ref}
	for _, m := range modules {
		kind := "library"
		if m.purl == "" {
			kind = "data"
		}
		c := m.component(kind)
		list.Components = append(list.Components, c)
		needs.DependsOn = append(needs.DependsOn, c.Ref)
	}
	list.Dependencies = []dependency{needs}
	out, err := json.MarshalIndent(list, "", "  ")
	return append(out, '\n'), err
}

func (m *module) component(kind string) component {
	c := component{Ref: m.purl, Type: kind, Name: m.name, Version: m.version, Purl: m.purl}
	if c.Ref == "" {
		c.Ref = m.name
	}
	if m.sum != nil {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(m.sum)}}
	}
	for id := range strings.SplitSeq(m.licence, " AND ") {
		var l licence
		if name, other := strings.CutPrefix(id, "LicenseRef-"); other {
			l.Licence.Name = name
		} else {
			l.Licence.ID = id
		}
		c.Licences = append(c.Licences, l)
	}
	return c
}
