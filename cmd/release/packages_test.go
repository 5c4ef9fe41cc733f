package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// members reads an archive of ar, in order.
func members(t *testing.T, data []byte) (names []string, parts [][]byte) {
	t.Helper()
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("it is not an archive of ar")
	}
	for len(rest) > 0 {
		head := string(rest[:60])
		size, err := strconv.Atoi(strings.TrimSpace(head[48:58]))
		if err != nil || head[58:] != "`\n" {
			t.Fatalf("the head of a member is %q", head)
		}
		names, parts = append(names, strings.TrimSpace(head[:16])), append(parts, rest[60:60+size])
		rest = rest[60+size+size%2:]
	}
	return names, parts
}

// tree reads a .tar.gz of a package. Each folder must come before what is in it.
func tree(t *testing.T, packed []byte) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files, dirs := map[string][]byte{}, map[string]bool{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(h.Name, "./"), "/")
		want := int64(0o644)
		if name == "usr/bin/flowrun" || h.Typeflag == tar.TypeDir {
			want = 0o755
		}
		if h.Mode != want || h.Uid != 0 || h.Uname != "root" || !h.ModTime.Equal(time.Unix(1700000000, 0)) || name != "" && !dirs[path.Dir(name)] {
			t.Errorf("%+v", h)
		}
		if h.Typeflag == tar.TypeDir {
			dirs[path.Join(".", name)] = true
		} else if files[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// checkDeb reads a package, and has dpkg-deb read it if this machine has it.
func checkDeb(t *testing.T, name string, of target) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	names, parts := members(t, data)
	if !slices.Equal(names, []string{"debian-binary", "control.tar.gz", "data.tar.gz"}) || string(parts[0]) != "2.0\n" {
		t.Fatalf("%s has %q and begins with %q", name, names, parts[0])
	}
	control, files := tree(t, parts[1]), tree(t, parts[2])
	about := string(control["control"])
	if !strings.HasPrefix(about, "Package: flowrun\nVersion: 1.2.3~test\nArchitecture: "+map[string]string{"ppc64le": "ppc64el"}[of.arch]) || !strings.Contains(about, of.arch[:3]) {
		t.Errorf("%s says %s", name, about)
	}
	for _, need := range []string{"usr/bin/flowrun", "usr/share/man/man1/flowrun.1.gz", "usr/share/man/man1/flowrun-plan.1.gz", "usr/share/bash-completion/completions/flowrun",
		"usr/share/zsh/vendor-completions/_flowrun", "usr/share/fish/vendor_completions.d/flowrun.fish", "usr/share/doc/flowrun/copyright", "usr/share/doc/flowrun/NOTICE",
		"usr/share/doc/flowrun/licenses/std/LICENSE", "usr/lib/systemd/user/flowrun@.service"} {
		if len(files[need]) == 0 {
			t.Errorf("%s has no %s", name, need)
		}
	}
	if unit := string(files["usr/lib/systemd/user/flowrun@.service"]); !strings.Contains(unit, "\nExecStart=/usr/bin/flowrun serve --store /%I/.flowrun ") || !strings.Contains(unit, "\nWorkingDirectory=/%I\n") {
		t.Errorf("the unit is %s", unit)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(control["md5sums"])) {
		sum, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sums[file] = sum
	}
	for file, data := range files { // any order: each on its own
		if sum := md5.Sum(data); sums[file] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: the sum of %s is %q", name, file, sums[file])
		}
	}
	if len(sums) != len(files) {
		t.Errorf("%s has %d files and %d sums", name, len(files), len(sums))
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return
	}
	to := t.TempDir()
	for _, words := range [][]string{{"--info", name}, {"--contents", name}, {"--extract", name, to}} {
		if said, err := exec.Command("dpkg-deb", words...).CombinedOutput(); err != nil {
			t.Errorf("dpkg-deb %s: %v\n%s", words[0], err, said)
		}
	}
	if of != (target{runtime.GOOS, runtime.GOARCH}) {
		return
	}
	if said, err := exec.Command(filepath.Join(to, "usr/bin/flowrun"), "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(said), "flowrun 1.2.3-test,") {
		t.Errorf("the installed flowrun: %v\n%s", err, said)
	}
}

// A package has equal bytes for equal files, and refuses a version that Debian would misread.
func TestDebs(t *testing.T) {
	dir, r := t.TempDir(), release{version: "1.0.0-rc.1", at: time.Unix(1700000000, 5)}
	var texts [2][]byte
	for i := range texts {
		to := filepath.Join(dir, strconv.Itoa(i))
		err := r.writeDeb(to, target{"linux", "ppc64le"}, []byte("program"), []file{{"LICENSE", []byte("x"), 0o644}}, nil)
		data, missing := os.ReadFile(to)
		if err := errors.Join(err, missing); err != nil {
			t.Fatal(err)
		}
		texts[i] = data
	}
	_, parts := members(t, texts[0])
	if about := string(tree(t, parts[1])["control"]); !bytes.Equal(texts[0], texts[1]) || !strings.Contains(about, "Version: 1.0.0~rc.1\nArchitecture: ppc64el\n") {
		t.Errorf("two packages differ, or %s", about)
	}
	for _, version := range []string{"v1", "", "1 0", "1\nX: y", "1-a-b"} {
		r.version = version
		if err := r.writeDeb(filepath.Join(dir, "x"), target{"linux", "amd64"}, nil, nil, nil); err == nil {
			t.Errorf("the version %q is accepted", version)
		}
	}
}

// checkFormula compares the formula with the archives, and reports whether there is one.
func checkFormula(t *testing.T, dir string, sums map[string]string, targets []target) bool {
	t.Helper()
	want := map[string]string{}
	for _, x := range targets {
		if x.arch == "amd64" || x.arch == "arm64" {
			want["https://github.com/flowrun/flowrun/releases/download/v1.2.3-test/"+x.file()+".tar.gz"] = sums[x.file()+".tar.gz"]
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "flowrun.rb"))
	if err != nil {
		if len(want) > 0 {
			t.Error(err)
		}
		return false
	}
	have := map[string]string{}
	for _, m := range regexp.MustCompile(`url "(.*)"\n +sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(string(text), -1) {
		have[m[1]] = m[2]
	}
	if !maps.Equal(have, want) || !strings.Contains(string(text), "version \"1.2.3-test\"\n") {
		t.Errorf("the formula has %v, want %v", have, want)
	}
	opened := len(regexp.MustCompile(`(?m)^ *(class|def|test do|on_\w+ do)`).FindAllString(string(text), -1))
	if closed := len(regexp.MustCompile(`(?m)^ *end$`).FindAllString(string(text), -1)); opened != closed {
		t.Errorf("the formula opens %d blocks and ends %d", opened, closed)
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if said, err := exec.Command(ruby, "-c", filepath.Join(dir, "flowrun.rb")).CombinedOutput(); err != nil {
			t.Errorf("ruby -c: %v\n%s", err, said)
		}
	}
	return true
}

// A formula has only those targets that Homebrew has, under the names that it has for them.
func TestFormula(t *testing.T) {
	dir := t.TempDir()
	r := release{out: dir, version: "1.2.3-test"}
	if err := r.writeFormula([]target{{"linux", "riscv64"}}); err != nil || checkFormula(t, dir, nil, nil) {
		t.Errorf("a formula without an archive: %v", err)
	}
	for _, x := range targets {
		if err := os.WriteFile(filepath.Join(dir, x.file()+".tar.gz"), []byte(x.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(r.writeFormula(targets), writeSums(dir)); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "flowrun.rb"))
	if !checkFormula(t, dir, readSums(t, dir), targets) || !regexp.MustCompile(`(?s)on_macos do\n +on_arm do\n +url ".*darwin_arm64.*on_intel do.*darwin_amd64.*on_linux do\n +on_arm do.*linux_arm64.*on_intel do`).Match(text) {
		t.Errorf("the formula is %s", text)
	}
}

// checkDockerfile reads the Dockerfile: each file that it takes from the folder of the release is there, and each that it takes from an earlier stage is
// in the archive which that stage unpacks.
func checkDockerfile(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("flowrun_linux_%s", runtime.GOARCH)
	inside, stages, taken, last := unpack(t, filepath.Join(dir, name+".tar.gz"), name), map[string]bool{"scratch": true, "debian:13-slim": true}, 0, ""
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		words := strings.Fields(strings.ReplaceAll(line, "${TARGETARCH}", runtime.GOARCH))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch last = words[0]; last {
		case "FROM":
			if !stages[words[1]] {
				t.Errorf("%s: the image is not known", line)
			}
			if len(words) == 4 {
				stages[words[3]] = true
			}
		case "ADD":
			if _, err := os.Stat(filepath.Join(dir, words[1])); err != nil {
				t.Error(err)
			}
		case "COPY":
			stage, _ := strings.CutPrefix(words[1], "--from=")
			for _, source := range words[2 : len(words)-1] {
				file, ok := strings.CutPrefix(source, "/flowrun/")
				found := slices.ContainsFunc(slices.Collect(maps.Keys(inside)), func(n string) bool { return n == file || strings.HasPrefix(n, file+"/") })
				if taken++; !stages[stage] || !ok || !found {
					t.Errorf("%s: there is no %s", line, source)
				}
			}
		case "ARG", "RUN", "USER", "WORKDIR", "ENTRYPOINT":
		default:
			t.Errorf("%s: the instruction is not known", line)
		}
	}
	if taken != 5 || last != "ENTRYPOINT" {
		t.Errorf("the Dockerfile takes %d files and ends with %s", taken, last)
	}
}
