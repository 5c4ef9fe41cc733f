package app

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// defaults are declarations that hold a secret, right and wrong in many ways. KIND is variable or input.
var defaults = []string{
	"KIND \"token\" {\n  type      = string\n  sensitive = true\n  default   = \"hunter22\"\n}\n",
	"KIND \"token\" {\n  default   = \"hunter22\"\n  sensitive = true\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = hunter22\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = \"hunter22\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = \"hunter22\" \"x\"\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  type = number\n  default   = \"hunter22\"\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  enum = [\"a\"]\n  default   = \"hunter22\"\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = <<-EOT\n    hunter22\n  EOT\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = {\n    a = \"hunter22\"\n    b = nothing.of.this\n  }\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = \"${hunter22}\"\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = upper(\"hunter22\")\n  defualt = 1\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default   = 1.hunter22\n}\n",
	"KIND \"token\" {\n  sensitive = yes\n  default   = \"hunter22\"\n}\n",
	"KIND \"token\" { sensitive = true default = \"hunter22\" }\n",
	"KIND \"token\" {\n  sensitive = true\n  default = \"hunter22\"\n  default = \"hunter22\"\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default = \"hunter22\"\n  validation { condition = \"KEY.token == 'other'\" }\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default = file(\"secret.txt\")\n}\n",
	"KIND \"token\" {\n  sensitive = true\n  default = 20221122\n}\n",
}

// A secret in a file is refused, and stands in nothing that is said of the file or kept.
func TestDefaultOfASecret(t *testing.T) {
	lines := []string{"validate", "validate --format compact", "validate --format json", "validate --format github", "validate --format sarif",
		"validate --format junit", "plan", "apply", "apply --json", "graph", "fmt --check", "fmt --diff"}
	for _, kind := range []string{"variable", "input"} {
		for i, text := range defaults {
			t.Run(fmt.Sprintf("%s%d", kind, i), func(t *testing.T) {
				t.Chdir(t.TempDir())
				text = strings.ReplaceAll(strings.ReplaceAll(text, "KIND", kind), "KEY", map[string]string{"variable": "var", "input": "input"}[kind])
				flow := text + "workflow \"w\" {\n  step \"a\" { run = [\"true\"] }\n}\n"
				if kind == "input" {
					flow = "workflow \"w\" {\n" + text + "  step \"a\" { run = [\"true\"] }\n}\n"
				}
				if err := os.WriteFile("w.flow.hcl", []byte(flow), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile("secret.txt", []byte("hunter22"), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, line := range lines {
					var out bytes.Buffer
					words := strings.Fields(line)
					code := Main(append(words, "w.flow.hcl"), Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
					if !strings.HasPrefix(line, "fmt") && code != exitNo {
						t.Errorf("%s: exit code %d\n%s", line, code, out.String())
					}
					if said := out.String(); strings.Contains(said, "hunter22") || strings.Contains(said, "20221122") {
						t.Errorf("%s shows the secret:\n%s", line, said)
					}
				}
				_ = filepath.WalkDir(".flowrun", func(name string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						t.Errorf("there is a store: %s", name)
					}
					return nil
				})
			})
		}
	}
}

// A sensitive variable may be left out.
func TestDefaultOfASecretThatIsNone(t *testing.T) {
	for _, none := range []string{"null", `""`} {
		t.Chdir(t.TempDir())
		flow := "variable \"token\" {\n  type = string\n  sensitive = true\n  default = " + none + "\n}\n" +
			"workflow \"w\" {\n  step \"a\" {\n    run = \"test -z \\\"$T\\\"\"\n    env = { T = try(var.token, \"\") }\n  }\n}\n"
		if err := os.WriteFile("w.flow.hcl", []byte(flow), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if code := Main([]string{"apply", "w.flow.hcl"}, Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}); code != 0 {
			t.Errorf("%s: %d\n%s", none, code, out.String())
		}
	}
}
