// Command release makes the files of a release: for each target an archive with flowrun, and its list of parts; for Linux also a Debian package; a
// formula for Homebrew, a Dockerfile that takes the archives; and SHA256SUMS.
//
//	go run ./cmd/release -version 0.1.0 -out dist
//
// It is a program and not a script of the shell: the same tar, gzip and SHA-256 are then everywhere, archives of one commit
// have equal bytes on each machine, the list of parts is read from the binary itself, and a test makes a release.
//
// To check a release that another person made, check out its commit, take the Go that `flowrun version` prints, run the command and
// compare SHA256SUMS.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// targets are the platforms that a release is for.
//
// Windows is not one of them: flowrun stops a step by its process group, limits what a process may open, and keeps the files of a store
// from other users, all by calls of POSIX. The BSDs are not, either: package command finds the processes of a step in its own way
// on each system, and has no way for them. The code for Linux is the same on each processor, so two more of those are here. A
// processor with words of 32 bits does not work: the whole numbers of conditions have 53 bits.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"linux", "riscv64"}, {"linux", "ppc64le"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// file begins the names of all files of a target.
func (t target) file() string { return "flowrun_" + t.os + "_" + t.arch }

// release is what all targets have in common.
type release struct {
	root    string // the folder of go.mod
	out     string // an empty folder
	version string
	commit  string    // "" where the sources are not in git
	at      time.Time // the time of the commit, which all files of archives have
	flags   []string  // of go build: [lean], or none in a quick test, which compiles less
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	r := release{flags: lean()}
	names := ""
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "the number of the release, without a v (required)")
	flags.StringVar(&r.out, "out", "dist", "the folder for the files; it must be empty or missing")
	flags.StringVar(&names, "targets", "all", "OS/ARCH, with commas between them, or host, or all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.version == "" || flags.NArg() > 0 {
		return errors.New("usage: go run ./cmd/release -version NUMBER [-out FOLDER] [-targets OS/ARCH,...]")
	}
	chosen, err := parseTargets(names)
	if err != nil {
		return err
	}
	if r.root, err = output(".", nil, "go", "list", "-m", "-f", "{{.Dir}}"); err != nil {
		return err
	}
	if err := r.readCommit(); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	if old, err := os.ReadDir(r.out); err != nil || len(old) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty", r.out))
	}
	return r.write(chosen)
}

func parseTargets(names string) ([]target, error) {
	switch names {
	case "all":
		return targets, nil
	case "host":
		return []target{{runtime.GOOS, runtime.GOARCH}}, nil
	}
	var out []target
	for name := range strings.SplitSeq(names, ",") {
		goos, arch, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("target %q must be OS/ARCH", name)
		}
		out = append(out, target{goos, arch})
	}
	return out, nil
}

// readCommit refuses sources with changes, because another person could not build the same bytes. SOURCE_DATE_EPOCH, in seconds, says that the
// sources are not from git, and when they were made.
func (r *release) readCommit() error {
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		r.at = time.Unix(seconds, 0).UTC()
		return err
	}
	changed, err := output(r.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return fmt.Errorf("%w; without git, set SOURCE_DATE_EPOCH", err)
	}
	if changed != "" {
		return fmt.Errorf("the sources have changes that are not committed:\n%s", changed)
	}
	line, err := output(r.root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.commit, r.at = commit, time.Unix(n, 0).UTC()
	return err
}

// write makes the files of the targets, and SHA256SUMS last: a folder that has it is whole.
func (r *release) write(targets []target) error {
	work, err := os.MkdirTemp("", "flowrun-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	host := filepath.Join(work, "host")
	if err := r.build(target{runtime.GOOS, runtime.GOARCH}, host); err != nil {
		return err
	}
	common, err := r.commonFiles(host)
	if err != nil {
		return err
	}
	for _, t := range targets {
		binary := host
		if t.os != runtime.GOOS || t.arch != runtime.GOARCH {
			binary = filepath.Join(work, t.os+"_"+t.arch)
			if err := r.build(t, binary); err != nil {
				return err
			}
		}
		if err := r.writeTarget(t, binary, common); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := r.writeFormula(targets); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "Dockerfile"), dockerfile, 0o666); err != nil {
		return err
	}
	return writeSums(r.out)
}

func (r *release) writeTarget(t target, binary string, common []file) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	modules, err := r.modules(binary)
	if err != nil {
		return err
	}
	list, err := r.parts(modules, program)
	if err != nil {
		return err
	}
	name := filepath.Join(r.out, t.file())
	if err := os.WriteFile(name+".cdx.json", list, 0o666); err != nil {
		return err
	}
	var licences []file
	for _, m := range modules {
		for _, l := range m.licences {
			licences = append(licences, file{"licenses/" + m.name + "/" + l.name, l.data, 0o644})
		}
	}
	if t.os != "linux" {
		common = slices.DeleteFunc(slices.Clone(common), func(x file) bool { return strings.HasPrefix(x.name, "systemd/") })
	} else {
		if err := r.writeDeb(name+".deb", t, program, common, licences); err != nil {
			return err
		}
	}
	files := append([]file{{"flowrun", program, 0o755}}, common...)
	return writeArchive(name+".tar.gz", t.file(), append(files, licences...), r.at)
}

// output runs a command and returns what it prints, without the last line end.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
