package mask

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools print the variable S as programs of every day do. What they print is judged by what is left of it once it is masked.
var tools = []struct{ needs, script string }{
	{"base64", `printf %s "$S" | base64`},
	{"base64", `printf %s "$S" | base64 -w 60`},
	{"base64", `printf %s "$S" | base64 -w 0`},
	{"base64", `printf %s "$S" | base64 | base64 -w 0`},
	{"base64", `printf %s "$S" | base64 -w 0 | base64`},
	{"openssl", `printf %s "$S" | openssl base64`},
	{"openssl", `printf %s "$S" | openssl base64 -A`},
	{"openssl", `printf %s "$S" | openssl base64 | sed 's/$/\r/'`},
	{"xxd", `printf %s "$S" | xxd -p`},
	{"xxd", `printf %s "$S" | xxd -p -u -c 7`},
	{"od", `printf %s "$S" | od -An -v -tx1`},
	{"dash", `dash -xc ': "$S"' 2>&1`},
	{"bash", `bash -xc ': "$S"' 2>&1`},
	{"bash", `bash -c 'declare -p S'`},
	{"bash", `bash -c 'S=$S; declare +x S; declare -p S'`},
	{"bash", `bash -c 'printf %q "$S"'`},
	{"bash", `bash -c 'echo "${S@Q}"'`},
	{"bash", `bash -c 'T=$S; set' | grep -a -A9 ^T= | sed '/^[A-Z_]*=/{/^T=/!d}'`},
	{"dash", `env -i S="$S" dash -c 'export -p' | sed '/^export [^S]/d'`},
	{"python3", `python3 -c 'import os; print(repr(os.environ["S"]))'`},
	{"python3", `python3 -c 'import os; print(ascii(os.environ["S"]))'`},
	{"python3", `python3 -c 'import os; print(os.environb[b"S"])'`},
	{"python3", `python3 -c 'import os; print([os.environ["S"]])'`},
	{"python3", `python3 -c 'import os,json; print(json.dumps(os.environ["S"]))'`},
	{"python3", `python3 -c 'import os,json; print(json.dumps(json.dumps(os.environ["S"])))'`},
	{"python3", `python3 -c 'import os,json; print(json.dumps(json.dumps(os.environ["S"], ensure_ascii=False), ensure_ascii=False))'`},
	{"python3", `python3 -c 'import os,json; print(repr(json.dumps(os.environ["S"])))'`},
	{"python3", `python3 -c 'import os,json,base64; print(base64.b64encode(json.dumps(os.environ["S"]).encode()).decode())'`},
	{"python3", `python3 -c 'import os,base64; print(base64.encodebytes(os.environb[b"S"]).decode())'`},
	{"python3", `python3 -c 'import os,base64,json; print(json.dumps(base64.encodebytes(os.environb[b"S"]).decode()))'`},
	{"python3", `python3 -c 'import os,base64; print(base64.urlsafe_b64encode(os.environb[b"S"]).decode())'`},
	{"python3", `python3 -c 'import os; from urllib.parse import *; print(quote(os.environ["S"]))'`},
	{"python3", `python3 -c 'import os; from urllib.parse import *; print(quote(quote(os.environ["S"])))'`},
	{"python3", `python3 -c 'import os; from urllib.parse import *; print(quote_plus(quote_plus(os.environ["S"])))'`},
	{"python3", `python3 -c 'import os,html; print(html.escape(os.environ["S"]))'`},
	{"python3", `python3 -c 'import os,html,json; print(html.escape(json.dumps(os.environ["S"])))'`},
	{"python3", `python3 -c 'import os,html,json; print(json.dumps(html.escape(os.environ["S"])))'`},
	{"python3", `python3 -c 'import os; print("".join("&#%d;" % ord(c) for c in os.environ["S"]))'`},
	{"python3", `python3 -c 'import os; print("".join("&#x%X;" % ord(c) for c in os.environ["S"]))'`},
	{"python3", `python3 -c 'import os; print(os.environ["S"].encode("ascii","xmlcharrefreplace").decode())'`},
	{"python3", `python3 -c 'import os,shlex; print(shlex.quote(os.environ["S"]))'`},
	{"python3", `python3 -c 'import os; print(os.environb[b"S"].hex(" "))'`},
	{"python3", `python3 -c 'import os; print(os.environb[b"S"].hex(":").upper())'`},
	{"python3", `python3 -c 'import os; print("".join("%%%02X" % c for c in os.environb[b"S"]))'`},
	{"node", `node -e 'console.log(JSON.stringify(process.env.S))'`},
	{"node", `node -e 'console.log([process.env.S])'`},
	{"node", `node -e 'console.log(encodeURIComponent(process.env.S))'`},
	{"node", `node -e 'console.log(encodeURIComponent(encodeURIComponent(process.env.S)))'`},
	{"node", `node -e 'console.log(JSON.stringify(encodeURIComponent(process.env.S)))'`},
	{"jq", `jq -n 'env.S'`},
	{"jq", `jq -rn 'env.S | @json | @json'`},
	{"jq", `jq -rn 'env.S | @sh'`},
	{"jq", `jq -rn 'env.S | @uri | @uri'`},
	{"jq", `jq -rn 'env.S | @html'`},
	{"jq", `jq -rn '[env.S] | @csv'`},
	{"jq", `jq -rn 'env.S | @base64 | @base64 | @uri'`},
	{"jq", `jq -an 'env.S'`},
	{"perl", `perl -MData::Dumper -e '$Data::Dumper::Terse=1; print Dumper($ENV{S})'`},
	{"ruby", `ruby -e 'p ENV["S"]'`},
	{"ruby", `ruby -e 'puts ENV["S"].dump'`},
}

// What programs make of a secret is masked: nothing is left of it but quotes, what names it, and up to four characters of base64 at
// its ends, which depend on what stands there.
func TestTools(t *testing.T) {
	if testing.Short() {
		t.Skip("starts hundreds of programs")
	}
	secrets := map[string]string{
		"token":     "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
		"marks":     `it's a "q" $HOME & <tag> \back/slash 100% = + ; #{x} !y ~z`,
		"not ASCII": "pässwörd-日本€-𝄞-'x'",
		"long":      strings.Repeat("Aq9+/zW3kLm7Xx", 15) + "==",
		"lines":     "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\nggSjAgEAAoIBAQC7VJTUt9Us8cKj\t'x'\n-----END KEY-----",
	}
	path, ran := os.Getenv("PATH"), 0
	if real, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil { // what stands before it may be slow
		path = filepath.Dir(strings.TrimSpace(string(real))) + ":" + path
	}
	for name, s := range secrets {
		m := New([]string{s})
		for _, locale := range []string{"C", "C.UTF-8"} {
			for _, tool := range tools {
				shell := tool.needs == "bash" || tool.needs == "dash"
				if _, err := exec.LookPath(tool.needs); err != nil || locale == "C" && !shell {
					continue
				}
				c := exec.Command("sh", "-c", tool.script)
				c.Env = append(os.Environ(), "S="+s, "PATH="+path, "LC_ALL="+locale, "PYTHONIOENCODING=utf-8", "PYTHONUTF8=1")
				out, err := c.CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v: %s", tool.script, err, out)
					continue
				}
				ran++
				masked := m.Text(string(out))
				if !strings.Contains(masked, Mark) {
					t.Errorf("%s, %s: %s\nprints %s", name, locale, tool.script, out)
					continue
				}
				if left := residue(masked); len(left) > 4 {
					t.Errorf("%s, %s: %s\nprints %s\nwhich becomes %s\nand leaves %q", name, locale, tool.script, out, masked, left)
				}
			}
		}
	}
	t.Logf("%d outputs of %d tools", ran, len(tools))
}

// residue is what is left of a masked output beside what frames it.
func residue(s string) string {
	for _, frame := range []string{Mark, "declare -x S=", "declare -- S=", "export S=", "T=", "+ :", `\n`, "%3D", "b'", `b"`, "&quot;", "&#34;", "=="} {
		s = strings.ReplaceAll(s, frame, "")
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'$\\ \r\n\t[](),=+", r) {
			return -1
		}
		return r
	}, s)
}
