package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var all = flag.Bool("release.all", false, "build all targets, as small as they are released (about ten minutes of CPU)")

// A release is whole: the sums are right, the program of this machine runs and knows its release, and the list of parts has what Go
// says that the program is made of. Another folder gives equal bytes.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it links flowrun twice")
	}
	names := "host"
	var flags []string
	if *all {
		names, flags = "all", lean()
	}
	want, err := parseTargets(names)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	r := &release{root: root, out: out, version: "1.2.3-test", commit: "0123456789abcdef", at: time.Unix(1700000000, 0), flags: flags}
	if err := r.write(want); err != nil {
		t.Fatal(err)
	}
	sums := readSums(t, out)
	files := 2*len(want) + 1 // and the Dockerfile
	for _, target := range want {
		if target.os == "linux" {
			files++
			checkDeb(t, filepath.Join(out, target.file()+".deb"), target)
		}
	}
	if checkFormula(t, out, sums, want) {
		files++
	}
	if len(sums) != files {
		t.Errorf("SHA256SUMS has %d lines for %d targets, want %d", len(sums), len(want), files)
	}
	checkDockerfile(t, out)
	for _, target := range want {
		name := "flowrun_" + target.os + "_" + target.arch
		files := unpack(t, filepath.Join(out, name+".tar.gz"), name)
		for _, need := range []string{"LICENSE", "NOTICE", "README.md", "completions/flowrun.bash", "completions/_flowrun", "completions/flowrun.fish", "man/man1/flowrun.1", "man/man1/flowrun-apply.1",
			"licenses/std/LICENSE", "licenses/modernc.org/sqlite/LICENSE", "licenses/github.com/hashicorp/hcl/v2/LICENSE",
			"licenses/memory/embed/uselite/use-lite-en.int8.packed/LICENSE.use-lite.Apache-2.0.txt"} {
			if len(files[need]) == 0 {
				t.Errorf("%s: there is no %s", target, need)
			}
		}
		checkParts(t, filepath.Join(out, name+".cdx.json"), files["flowrun"])
		if target.os == runtime.GOOS && target.arch == runtime.GOARCH {
			checkProgram(t, r, files["flowrun"])
		}
	}
}

func readSums(t *testing.T, dir string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		data, err := os.ReadFile(filepath.Join(dir, name))
		if have := sha256.Sum256(data); err != nil || hex.EncodeToString(have[:]) != sum {
			t.Errorf("%s: %v, or another sum than %s", name, err, sum)
		}
		sums[name] = sum
	}
	return sums
}

// unpack reads an archive, all of whose files must be in one folder, with one time and without an owner.
func unpack(t *testing.T, name, folder string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		file, ok := strings.CutPrefix(h.Name, folder+"/")
		if !ok || !filepath.IsLocal(file) || h.ModTime.Unix() != 1700000000 || h.Uid != 0 || h.Uname != "" || h.Mode&0o111 != 0 != (file == "flowrun") {
			t.Errorf("%s has %+v", name, h)
		}
		if files[file] != nil {
			t.Errorf("%s has two files %s", name, file)
		}
		if files[file], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// cyclonedxSchema compiles the official JSON Schema of CycloneDX 1.6, with the two schemas that it refers to.
func cyclonedxSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	for _, name := range []string{"bom-1.6", "jsf-0.82", "spdx"} {
		name += ".SNAPSHOT.schema.json"
		packed, err := os.Open(filepath.Join("testdata/cyclonedx", name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close()
		z, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(z)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("http://cyclonedx.org/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.SNAPSHOT.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkParts compares a list of parts with the program.
func checkParts(t *testing.T, name string, program []byte) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		BomFormat, SpecVersion string
		Metadata               struct {
			Component struct {
				Hashes []struct{ Alg, Content string }
			}
		}
		Components []struct {
			Name, Version, Type string
			Licenses            []struct{ License struct{ ID, Name string } }
		}
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := cyclonedxSchema(t).Validate(doc); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	sum := sha256.Sum256(program)
	if h := list.Metadata.Component.Hashes; list.BomFormat != "CycloneDX" || len(h) != 1 || h[0].Content != hex.EncodeToString(sum[:]) {
		t.Errorf("%s: %s, the program has the sum %v", name, list.BomFormat, h)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, d := range info.Deps {
		want = append(want, d.Path+" "+d.Version)
	}
	data := 0
	for _, c := range list.Components {
		if len(c.Licenses) == 0 {
			t.Errorf("%s: %s has no licence", name, c.Name)
		}
		for _, l := range c.Licenses {
			if (l.License.ID == "") == (l.License.Name == "") {
				t.Errorf("%s: a licence of %s is %+v", name, c.Name, l)
			}
		}
		if c.Name == "go.yaml.in/yaml/v3" && len(c.Licenses) != 2 {
			t.Errorf("%s: %s has the licences %+v, want two", name, c.Name, c.Licenses)
		}
		switch {
		case c.Type == "data":
			data++
		case c.Name == "std":
			if "go"+c.Version != runtime.Version() {
				t.Errorf("%s: the standard library of Go %s", name, c.Version)
			}
		default:
			have = append(have, c.Name+" "+c.Version)
		}
	}
	if !slices.Equal(have, want) || len(want) < 15 {
		t.Errorf("%s has\n%q, the program has\n%q", name, have, want)
	}
	if data != 3 || len(list.Dependencies) != 1 || len(list.Dependencies[0].DependsOn) != len(list.Components) {
		t.Errorf("%s has %d files of data, and the dependencies %v", name, data, list.Dependencies)
	}
}

// checkProgram runs the program, and builds it a second time, elsewhere.
func checkProgram(t *testing.T, r *release, program []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flowrun")
	if err := os.WriteFile(file, program, 0o700); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(file, "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "flowrun 1.2.3-test, commit 0123456789ab, go") {
		t.Errorf("flowrun version: %v, %s", err, said)
	}
	copied := t.TempDir()
	copySources(t, "../..", copied)
	second := filepath.Join(t.TempDir(), "second")
	elsewhere := *r
	elsewhere.root = copied
	if err := elsewhere.build(target{runtime.GOOS, runtime.GOARCH}, second); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(second); err != nil || !bytes.Equal(again, program) {
		t.Errorf("another folder gives another program: %v, %d and %d bytes", err, len(program), len(again))
	}
}

// copySources copies what flowrun is built from.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, name)
		if d.IsDir() {
			if base := d.Name(); base == "testdata" && filepath.Dir(rel) == "." || strings.HasPrefix(base, ".") && name != from {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Equal files make equal archives, and what differs is in the bytes.
func TestArchivesAreEqual(t *testing.T) {
	dir := t.TempDir()
	r := release{}
	files := []file{{"flowrun", []byte("program"), 0o755}, {"LICENSE", []byte("text"), 0o644}}
	read := func(name string, files []file) []byte {
		name = filepath.Join(dir, name)
		if err := writeArchive(name, "flowrun_x", files, r.at); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	one, two := read("one", files), read("two", files)
	if !bytes.Equal(one, two) {
		t.Error("two archives of equal files differ")
	}
	if bytes.Equal(one, read("three", files[:1])) {
		t.Error("an archive without a file is equal to one with it")
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	if sums := readSums(t, dir); len(sums) != 3 || sums["one"] != sums["two"] || sums["one"] == sums["three"] {
		t.Errorf("SHA256SUMS is %v", sums)
	}
	if path, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.Command(path, "-c", "SHA256SUMS")
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("sha256sum -c: %v\n%s", err, said)
		}
	}
}

func TestLicencesAreRecognized(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                                     "Apache-2.0",
		"Redistribution and use in source and binary forms, with or without\nmodification":                 "BSD-2-Clause",
		"This project is covered by two different licenses: MIT and Apache.\nPermission is hereby granted": "MIT AND Apache-2.0",
		"All rights reserved. Ask us.":                                                                     "",
	} {
		if have := licenceOf([]byte(text)); have != want {
			t.Errorf("%q: %q, want %q", text, have, want)
		}
	}
	if err := (&module{}).readLicences(t.TempDir()); err == nil {
		t.Error("a module without a licence is accepted")
	}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                          "usage:",
		"-version 1 more":           "usage:",
		"-version 1 -targets plan9": "OS/ARCH",
	} {
		if err := run(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	if err := run([]string{"-version", "1", "-out", "."}); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder with files: %v", err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "x")
	if err := run([]string{"-version", "1", "-targets", "host"}); err == nil || !strings.Contains(err.Error(), "invalid syntax") {
		t.Errorf("a time that is not a number: %v", err)
	}
}

// Sources with changes make no release, and those of a commit have its time.
func TestCommit(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	r := &release{root: t.TempDir()}
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-c", "user.name=a", "-c", "user.email=a@b.example"}, args...)
		if said, err := output(r.root, []string{"GIT_COMMITTER_DATE=1700000000 +0000"}, "git", args...); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	git("init", "-q")
	if err := os.WriteFile(filepath.Join(r.root, "a"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := r.readCommit(); err == nil || !strings.Contains(err.Error(), "not committed:\n?? a") {
		t.Errorf("sources with changes: %v", err)
	}
	git("add", "a")
	git("commit", "-q", "-m", "a")
	if err := r.readCommit(); err != nil || len(r.commit) != 40 || r.at.Unix() != 1700000000 {
		t.Errorf("%v, commit %s of %s", err, r.commit, r.at)
	}
}
