package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// debArchs are the names of processors that Debian calls otherwise.
var debArchs = map[string]string{"ppc64le": "ppc64el"}

// debVersion is a version that Debian accepts.
var debVersion = regexp.MustCompile(`^[0-9][A-Za-z0-9.+~]*$`)

// writeDeb writes a package for Debian and its kin. It is written here and not by dpkg-deb, so that it has equal bytes on each machine.
func (r *release) writeDeb(to string, t target, program []byte, common, licences []file) error {
	version := strings.Replace(r.version, "-", "~", 1) // 1.0.0-rc.1 comes before 1.0.0
	if !debVersion.MatchString(version) {
		return fmt.Errorf("%q is not a version of a Debian package", r.version)
	}
	const doc = "usr/share/doc/flowrun/"
	files := []file{{"usr/bin/flowrun", program, 0o755}}
	for _, x := range common {
		switch dir, name := path.Split(x.name); {
		case dir == "man/man1/":
			packed, err := pack(x.data)
			if err != nil {
				return err
			}
			x.name, x.data = "usr/share/man/man1/"+name+".gz", packed
		case x.name == "completions/flowrun.bash":
			x.name = "usr/share/bash-completion/completions/flowrun"
		case x.name == "completions/_flowrun":
			x.name = "usr/share/zsh/vendor-completions/_flowrun"
		case x.name == "completions/flowrun.fish":
			x.name = "usr/share/fish/vendor_completions.d/flowrun.fish"
		case x.name == "LICENSE":
			x.name = doc + "copyright"
		case x.name == "systemd/flowrun@.service":
			x.name = "usr/lib/systemd/user/flowrun@.service"
		default:
			x.name = doc + x.name
		}
		files = append(files, x)
	}
	for _, x := range licences {
		x.name = doc + x.name
		files = append(files, x)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	size := 0
	var sums strings.Builder
	for _, x := range files {
		size += (len(x.data) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(x.data), x.name)
	}
	control := fmt.Sprintf(`Package: flowrun
Version: %s
Architecture: %s
Maintainer: the authors of flowrun <flowrun@flowrun.invalid>
Installed-Size: %d
Section: devel
Priority: optional
Homepage: %s
Recommends: ca-certificates, git
Description: durable workflows for programs and coding agents
 flowrun runs workflow files: steps that are programs, requests or agents, with
 retries, gates, budgets and approvals. A run survives a kill of its process.
`, version, cmp.Or(debArchs[t.arch], t.arch), size, homepage)
	controls, err := r.packTree([]file{{"control", []byte(control), 0o644}, {"md5sums", []byte(sums.String()), 0o644}})
	if err != nil {
		return err
	}
	data, err := r.packTree(files)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, member := range []file{{"debian-binary", []byte("2.0\n"), 0}, {"control.tar.gz", controls, 0}, {"data.tar.gz", data, 0}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", member.name, r.at.Unix(), 0, 0, 0o100644, len(member.data))
		b.Write(member.data)
		if len(member.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return os.WriteFile(to, b.Bytes(), 0o666)
}

// packTree makes a .tar.gz of files and the folders above them, as dpkg reads it: it has no extended headers.
func (r *release) packTree(files []file) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	known := map[string]bool{}
	var folder func(dir string) error
	folder = func(dir string) error {
		if known[dir] {
			return nil
		}
		known[dir] = true
		name := "./"
		if dir != "." {
			if err := folder(path.Dir(dir)); err != nil {
				return err
			}
			name += dir + "/"
		}
		return w.WriteHeader(r.entry(tar.TypeDir, name, 0o755, 0))
	}
	for _, x := range files {
		if err := folder(path.Dir(x.name)); err != nil {
			return nil, err
		}
		if err := w.WriteHeader(r.entry(tar.TypeReg, "./"+x.name, x.mode, len(x.data))); err != nil {
			return nil, err
		}
		if _, err := w.Write(x.data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(w.Close(), z.Close())
	return b.Bytes(), err
}

func (r *release) entry(kind byte, name string, mode int64, size int) *tar.Header {
	return &tar.Header{Typeflag: kind, Name: name, Mode: mode, Size: int64(size), ModTime: r.at.Truncate(time.Second), Uname: "root", Gname: "root", Format: tar.FormatGNU}
}

// pack compresses a manual page, without a time.
func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(data)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}
