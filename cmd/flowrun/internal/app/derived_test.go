package app

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// computed are values that a file computes from its secrets: from blob, which is JSON, mixed, which has letters of both cases and marks,
// coded, which is base64, and listed, which has commas.
var computed = []struct{ name, expr string }{
	{"member", `jsondecode(var.blob).db.password`},
	{"each", `join("/", [for k, v in jsondecode(var.blob).db : v])`},
	{"lookup", `lookup(jsondecode(var.blob).db, "password", "")`},
	{"decoded", `base64decode(var.coded)`},
	{"encoded", `base64encode("user:${var.mixed}")`},
	{"upper", `upper(var.mixed)`},
	{"lower", `lower(var.mixed)`},
	{"part", `substr(var.mixed, 3, 14)`},
	{"split", `split(",", var.listed)[1]`},
	{"regex", `regex("[a-z]+=([A-Za-z0-9]+)", var.listed)[0]`},
	{"replaced", `replace(var.mixed, "Q", "--")`},
	{"joined", `join("", reverse(split("_", var.mixed)))`},
	{"format", `format("<%s>", upper(var.mixed))`},
	{"text", `"${substr(var.mixed, 0, 3)}.${substr(var.mixed, 3, 3)}.${substr(var.mixed, 6, 3)}.${substr(var.mixed, 9, 3)}"`},
	{"nested", `jsonencode({ a = jsonencode({ b = lower(var.mixed) }) })`},
	{"number", `tonumber(jsondecode(var.blob).pin)`},
	{"flat", `concat(["plain"], split(",", var.listed))[2]`},
	{"last", `one(regexall("[0-9]{5,}", var.blob))`},
	{"local", `local.derived`},
}

// printed prints V in many forms. Each stands in a file outside of the run, too, so that the test knows what to look for.
const printed = `set +e
form() { name=$1; shift; "$@" >"$WITNESS/$STEP-$name" 2>&1; cat "$WITNESS/$STEP-$name"; cat "$WITNESS/$STEP-$name" >&2; echo; }
form plain printf %s "$V"
form base64 sh -c 'printf %s "$V" | base64'
form base64w sh -c 'printf %s "$V" | base64 -w 20'
form inside sh -c 'printf "user:%s\n" "$V" | base64'
form openssl sh -c 'printf %s "$V" | openssl base64'
form twice sh -c 'printf %s "$V" | base64 -w 0 | base64'
form xxd sh -c 'printf %s "$V" | xxd -p'
form XXD sh -c 'printf %s "$V" | xxd -p -u'
form od sh -c 'printf %s "$V" | od -An -v -tx1'
form trace sh -xc ': "$V"'
form bashtrace bash -xc ': "$V"'
form declare bash -c 'declare -p V'
form q bash -c 'printf %q "$V"'
form at bash -c 'echo "${V@Q}"'
form json jq -n 'env.V'
form json2 jq -rn 'env.V | @json | @json'
form html jq -rn 'env.V | @html'
form uri jq -rn 'env.V | @uri'
form uri2 jq -rn 'env.V | @uri | @uri'
form csv jq -rn '[env.V] | @csv'
form repr python3 -c 'import os,json,html,urllib.parse as u,base64
v=os.environ["V"]
print(repr(v)); print(v.encode()); print(json.dumps(json.dumps(v))); print(html.escape(v)); print(u.quote(u.quote(v)))
print("".join("&#%d;" % ord(c) for c in v)); print("".join("&#x%x;" % ord(c) for c in v)); print("".join("%%%02x" % c for c in v.encode()))
print(v.encode().hex(":")); print(base64.encodebytes(json.dumps(v).encode()).decode()); print(u.quote(base64.b64encode(v.encode())))'
exit 0
`

// TestDerivedSecrets computes values from secrets, gives them to programs that print them in every form, and looks for them in all that
// flowrun says and keeps.
func TestDerivedSecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a few hundred processes")
	}
	for _, program := range []string{"bash", "jq", "python3", "xxd", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	witness := t.TempDir()
	script := filepath.Join(t.TempDir(), "print.sh")
	if err := os.WriteFile(script, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	var flow strings.Builder
	for _, name := range []string{"blob", "mixed", "coded", "listed"} {
		fmt.Fprintf(&flow, "variable %q {\n  type      = string\n  sensitive = true\n}\n", name)
	}
	flow.WriteString("variable \"witness\" { type = string }\nlocals {\n  derived = \"${lower(split(\",\", var.listed)[2])}.x\"\n}\nworkflow \"w\" {\n  default = true\n  max_concurrency = 2\n")
	for _, c := range computed {
		fmt.Fprintf(&flow, "  step %q {\n    run = [\"sh\", %q]\n    env = { V = %s, STEP = %q, WITNESS = var.witness }\n  }\n", c.name, script, c.expr, c.name)
	}
	fmt.Fprintf(&flow, "  step \"called\" {\n    call = workflow.child\n    with = { auth = upper(split(\",\", var.listed)[2]), witness = var.witness }\n  }\n"+
		"  step \"stdin\" {\n    run = \"cat; cat <&0\"\n    stdin = %s\n  }\n"+
		"  step \"argv\" { run = [\"echo\", \"plain words\", \"--\", %s] }\n}\n", computed[0].expr, computed[5].expr)
	fmt.Fprintf(&flow, "workflow \"child\" {\n  input \"witness\" { type = string }\n  input \"auth\" {\n    type = string\n    sensitive = true\n  }\n"+
		"  step \"called\" {\n    run = [\"sh\", %q]\n    env = { V = reverse(split(\"-\", \"${input.auth}-x\"))[1], STEP = \"called\", WITNESS = input.witness }\n  }\n}\n", script)
	if err := os.WriteFile("flow.hcl", []byte(flow.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := `{"db": {"password": "Zk3'vQ\"8rT wX$5&m<N>/2", "user": "johnny.appleseed77"}, "pin": "84726193"}`
	inner := "Inner-Kq82/zPw&'71+Lm=="
	environ := append(os.Environ(), "FLOWRUN_VAR_blob="+blob, "FLOWRUN_VAR_mixed=gHp_Qx7TbQ9vLm3RkZ'w\"Q2é_Yd",
		"FLOWRUN_VAR_coded="+base64.StdEncoding.EncodeToString([]byte(inner)),
		"FLOWRUN_VAR_listed=user=Alm9Qr5Tx,Bw7-Nk2-Pz4-Vd8 'x',CsJ6yU3hE1gF", "FLOWRUN_VAR_witness="+witness)
	sinks := map[string][]byte{}
	for _, line := range []string{"apply flow.hcl w --json", "runs show latest", "runs show latest --json", "logs latest", "events latest", "events latest --json",
		"console latest step.member.output", "apply flow.hcl w --report junit=/dev/stdout", "replay latest", "runs list --json"} {
		var out bytes.Buffer
		code := Main(strings.Fields(line), Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: environ})
		if code != 0 {
			t.Fatalf("%s: %d\n%s", line, code, out.String())
		}
		sinks[line] = out.Bytes()
	}
	if !bytes.Contains(sinks["logs latest"], []byte("plain words -- (sensitive)")) {
		t.Error("what is not a secret is masked, or what is one not")
	}
	stored(t, dir, func(where string, text []byte) {
		packed, _ := io.ReadAll(flate.NewReader(bytes.NewReader(text)))
		sinks[where] = append(append(append(sinks[where], text...), '|'), packed...)
	})
	texts := map[string]string{}
	for where, text := range sinks {
		texts[where] = joined(string(text))
	}
	files, _ := filepath.Glob(filepath.Join(witness, "*"))
	needles := 0
	for _, f := range files {
		form, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, needle := range middles(string(form)) {
			needles++
			for where, text := range texts {
				if strings.Contains(text, needle) {
					t.Errorf("%s prints %s\nand %q is in %s", filepath.Base(f), form, needle, where)
				}
			}
		}
	}
	forms := len(files) / (len(computed) + 1)
	t.Logf("%d computed values in %d forms, %d pieces of them in %d sinks", len(computed)+1, forms+10, needles, len(sinks))
	if forms < 20 || needles < 1000 {
		t.Errorf("%d forms, %d pieces", forms, needles)
	}
}

// middles are pieces of what a form prints, of its lines together where it has several of one text.
func middles(form string) (list []string) {
	lines := []string{form}
	if strings.Count(form, "\n") > 9 { // many forms at once
		lines = strings.Split(form, "\n")
	}
	const size = 8
	for _, l := range lines {
		l = strings.TrimPrefix(joined(l), "declare -x V=")
		for _, at := range []int{len(l) / 3, len(l) / 2, len(l) * 2 / 3} {
			if from := at - size/2; from >= 0 && from+size <= len(l) && len(l) >= 2*size {
				list = append(list, l[from:from+size])
			} else if len(l) >= size {
				list = append(list, l[len(l)-size:])
			}
		}
	}
	return list
}

// joined is a text without ends of lines.
func joined(s string) string { return strings.NewReplacer("\n", "", "\r", "", `\n`, "").Replace(s) }
