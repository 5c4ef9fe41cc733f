package app

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/given"
)

// What cannot be read of what a run is given is told by its place: what stands there may be a secret.
func TestGivenSecretsAreNotQuoted(t *testing.T) {
	t.Chdir(t.TempDir())
	flow := `variable "token" {
  type      = string
  sensitive = true
  enum      = ["hunter44", "hunter55"]
  validation { condition = "len(var.token) == 3" }
}
variable "pin" {
  type      = number
  sensitive = true
}
variable "db" {
  type      = object({ a = list(number) })
  sensitive = true
}
workflow "w" {
  input "code" {
    type      = number
    sensitive = true
  }
  step "a" { run = ["true"] }
}
`
	if err := os.WriteFile("w.flow.hcl", []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"token = hunter22\n", "token = hunter22.x\n", "token = \"hunter22\n", "token = \"${hunter22}\"\n", "token hunter22\n", "hunter22\n", "token = 1hunter22\n",
		"token = hunter22()\n", "token \"hunter22\" {\n}\n", "token = [hunter22]\n", "token = 'hunter22'\n", "token = <<EOT\nhunter22\n", "db = { hunter22 = x }\n",
		"token = \"a\"\ntoken = \"hunter22\"\n", "token = \"a\" hunter22\n", "pin = \"hunter22\"\n", "token = \"hunter22\"\n", "pin = true\ndb = { a = [\"hunter22\"] }\n",
		"pin = 1\ndb = { hunter22 = 1 }\n", "token = \"hunter22\" + 1\n", "pin = 20221122202211222022\n", "token = \"a\" == hunter22 ? 1 : 2\n",
		`{"token": hunter22}`, `{"token": "hunter22", "token": "b"}`, `{"token": {"hunter22": 1, "hunter22": 2}}`, `{"pin": 20221122202211222022}`, `{"token": "hunter22`, `["hunter22"]`,
		`{"token": "hunter22"} hunter22`, `{"pin": 2.0221122e400}`, `{"token": 'hunter22'}`, `{"token": "\hunter22"}`, `{"db": {"a": ["hunter22"]}}`, `{"db": {"hunter22": []}}`,
	} {
		if err := os.WriteFile("values", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, text, "apply w.flow.hcl --var-file values")
	}
	for _, text := range []string{"hunter22\n", "token='hunter22\n", "token='a' hunter22\n", "token=hunter22\n", "pin=hunter22\n", "db=hunter22\n", "db={\"hunter22\": 1}\n", "token=\xffhunter22\n"} {
		if err := os.WriteFile("values", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, text, "apply w.flow.hcl --env-file values")
	}
	for _, line := range []string{"--var hunter22", "--var token=hunter22", "--var pin=hunter22", "--var db=hunter22", `--var db={"a":["hunter22"]}`, `--var db={"hunter22":1}`,
		"--var token=a --var hunter22", "--var token=@hunter2", "--input code=hunter22", "--input hunter22", "--input code=20221122202211222022", "--var pin=20221122202211222022"} {
		refused(t, line, "apply w.flow.hcl "+line)
	}
	for _, e := range []string{"token=hunter22", "pin=hunter22", `db={"hunter22":[]}`, "pin=20221122202211222022"} {
		refused(t, e, "apply w.flow.hcl", given.VarPrefix+e)
	}
}

// refused looks for a secret in how a command refuses what it is given.
func refused(t *testing.T, what, line string, environ ...string) {
	t.Helper()
	var out bytes.Buffer
	code := Main(strings.Fields(line), Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: environ})
	said := out.String()
	if code != exitUsage || strings.Contains(said, "hunter22") || strings.Contains(said, "20221122") {
		t.Errorf("%q: exit code %d\n%s", what, code, said)
	}
}
