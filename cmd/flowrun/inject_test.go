package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// payloads are what somebody writes into a ticket's title, hoping for a shell. Each makes the file pwned if one runs it.
var payloads = []string{
	"$(touch pwned)", "`touch pwned`", "; touch pwned", "& touch pwned &", "| touch pwned", "|| touch pwned", "&& touch pwned", "\ntouch pwned\n",
	"\r\ntouch pwned", "'; touch pwned; '", "\"; touch pwned; \"", "'\"; touch pwned; \"'", "'$(touch pwned)'", "\"$(touch pwned)\"", "\\$(touch pwned)",
	"\\\\$(touch pwned)", "\\`touch pwned\\`", "${IFS}touch${IFS}pwned", "$((a[$(touch pwned)]))", "a[$(touch pwned)]", "x=1; touch pwned",
	") ; touch pwned ; (", "}; touch pwned; {", "done; touch pwned", "fi; touch pwned", ";;esac; touch pwned", "EOT\ntouch pwned\n", "END\ntouch pwned\nEND",
	"<(touch pwned)", ">pwned", "2>pwned", ">>pwned", "<<<$(touch pwned)", "$'\\x3b touch pwned'", "${x:-$(touch pwned)}", "${FLOWRUN_V0@P}$(touch pwned)",
	"() { :;}; touch pwned", "-n", "--", "*", "~root", "$HOME", "%s%n\\c\\0101", "'", "\"", "\\", "`", " ", "a  b\t c", "ü€𝄞 #x",
	"${input.payloads}", "%{ if true }touch pwned%{ endif }", "$${x}", "--checkpoint-action=exec=touch pwned", "-oProxyCommand=touch pwned",
}

// injected takes each payload from an input, from the output of a step, from a variable of the environment, in a gate and an agent; and puts
// it into each sort of place. What arrives is written to files.
const injected = `
variable "outer" { type = string }

agent "echo" {
  type          = "shell"
  output_format = "text"
  run           = "cat > /dev/null; printf '%s' ${var.outer} \"${var.outer}\" '${var.outer}' > agent; echo done"
}

workflow "w" {
  input "payloads" { type = list(string) }

  step "input" {
    for_each = input.payloads
    run      = <<-EOT
      printf '%s' $${each.value} > 0.$${each.key}
      printf '%s' "$${each.value}" > 1.$${each.key}
      printf '%s' '$${each.value}' > 2.$${each.key}
      v=$${each.value}; printf '%s' "$v" > 3.$${each.key}
      cat > 4.$${each.key} <<END
      $${each.value}
      END
      for i in $${each.value}; do printf '%s' "$i" > 5.$${each.key}; done
      printf '%s' "$(printf '%s.' $${each.value})" > 6.$${each.key}
      printf '%s' "$${none:-$${each.value}}" > 7.$${each.key}
      sh -c 'printf "%s" "$1"' sh $${each.value} > 8.$${each.key}
    EOT
    gate "same" { run = "test $${each.value} = \"$(cat 0.$${each.key})x\" || printf '%s' $${each.value} > 9.$${each.key}" }
  }
  step "bash" {
    for_each = input.payloads
    shell    = "bash"
    run      = <<-EOT
      a=($${each.value} x); printf '%s' "$${a[0]}" > 10.$${each.key}
      [[ $${each.value} == "$${each.value}" ]]; cat > 11.$${each.key} <<< $${each.value}
    EOT
  }
  step "printed" {
    for_each = input.payloads
    run      = ["printf", "%s.", each.value]
  }
  step "output" {
    for_each = input.payloads
    run      = "printf '%s' $${step.printed.output[each.key]} \"$${step.printed.output[each.key]}\" > 12.$${each.key}"
  }
  step "file" {
    for_each = input.payloads
    run      = "jsonish=$${jsonencode({ p = each.value })}; printf '%s\\n' \"$jsonish\" >> \"$FLOWRUN_OUTPUT\""
  }
  step "stored" {
    for_each = input.payloads
    run      = "printf '%s' $${step.file.output[each.key].p} > 13.$${each.key}"
  }
  step "environment" {
    for_each = input.payloads
    env      = { P = each.value }
    run      = "printf '%s' \"$P\" > 14.$${each.key}"
  }
  step "stdin" {
    for_each = input.payloads
    stdin    = each.value
    run      = "cat > 15.$${each.key}"
  }
  step "agent" { agent = agent.echo }
}
`

// No payload runs, whichever way it comes and wherever it is put, and each arrives byte for byte.
func TestInjection(t *testing.T) {
	if len(payloads) < 40 {
		t.Fatalf("%d payloads", len(payloads))
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "flowrun")); err != nil {
		t.Fatal(err)
	}
	list, _ := json.Marshal(payloads)
	source := strings.ReplaceAll(injected, "$${", "${")
	source = strings.NewReplacer(`"${none:-`, `"$${none:-`, `"${a[0]}"`, `"$${a[0]}"`).Replace(source)
	quoted := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(list)) // lists on the command line are expressions
	for name, text := range map[string]string{"flow.hcl": source, "payloads.json": quoted} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outer := strings.Join(payloads, "\n")
	c := exec.Command(filepath.Join(bin, "flowrun"), "apply", "flow.hcl", "--input-from", "payloads=payloads.json")
	c.Dir, c.Env = dir, append(os.Environ(), "FLOWRUN_STORE=", "FLOWRUN_VAR_outer="+outer)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a payload ran")
	}
	arrives := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, want %q (%v)", name, got, want, err)
		}
	}
	arrives("agent", strings.Repeat(outer, 3))
	for i, p := range payloads {
		want := map[int]string{4: p + "\n", 6: p + ".", 11: p + "\n", 12: p + "." + p + "."}
		for k := range 16 {
			w, ok := want[k]
			if !ok {
				w = p
			}
			arrives(strconv.Itoa(k)+"."+strconv.Itoa(i), w)
		}
	}
}
