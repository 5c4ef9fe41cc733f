# flowrun checks itself: format, vet, tests with a coverage gate, build with a size gate, and a report that reads what they
# found. Every figure comes from the repository that this folder lies in. By default the packages of the language are vetted and
# tested. CI checks all packages, with the long tests: --var packages=... --var short=false

variable "packages" {
  type        = string
  default     = "dsl/..."
  description = "The packages to vet and to test: a folder of the repository, or ... for all."
}

variable "short" {
  type        = bool
  default     = true
  description = "Whether the tests that take long are left out."
}

variable "min_coverage" {
  type        = number
  default     = 85
  description = "The least share of statements that the tests must reach, in percent."
}

variable "max_mib" {
  type        = number
  default     = 62
  description = "The largest size of the stripped binary, in MiB: 10 of them are the weights of the embedder, 15 the client of Temporal. A release has 57."
}

gate "coverage" {
  check   = "result.output.percent >= var.min_coverage"
  message = "the tests reach ${result.output.percent}% of the statements, less than ${var.min_coverage}%"
}

gate "size" {
  check   = "result.output.mib <= var.max_mib"
  message = "the binary has ${result.output.mib} MiB, more than ${var.max_mib} MiB"
}

workflow "self-check" {
  description = "Format, vet, tests and build of this repository"
  dir         = "../.."

  parallel "checks" {
    step "format" {
      run = <<-SH
        unformatted=$(gofmt -l .)
        if [ -n "$unformatted" ]; then
          echo "gofmt would change:" >&2
          echo "$unformatted" >&2
          exit 1
        fi
        find . -name '*.go' | wc -l
      SH
    }

    step "vet" {
      run     = ["go", "vet", "./${var.packages}"]
      timeout = "10m"
    }

    step "test" {
      timeout = "45m"
      parse   = "json"
      gates   = [gate.coverage]
      output  = object({ percent = number, packages = number, again = list(string) })
      run     = <<-SH
        dir=$(mktemp -d)
        trap 'rm -rf "$dir"' EXIT
        touch "$dir/again"
        go test -vet=off -short=${var.short} -timeout 40m -coverpkg=./${var.packages} -coverprofile="$dir/profile" ./${var.packages} >"$dir/log" 2>&1 ||
          .ci/again "$dir/log" -vet=off -short=${var.short} -timeout 40m >"$dir/again" || {
          grep -v 'coverage: ' "$dir/log" >&2 # of the packages that failed
          exit 1
        }
        percent=$(go tool cover -func="$dir/profile" | awk 'END { sub("%", "", $NF); print $NF }')
        again=$(sed 's/[\\"]/\\&/g; s/.*/"&"/' "$dir/again" | paste -sd, -)
        printf '{"percent": %s, "packages": %d, "again": [%s]}\n' "$percent" "$(go list ./${var.packages} | wc -l)" "$again"
      SH
    }

    step "build" {
      timeout = "10m"
      parse   = "json"
      gates   = [gate.size]
      output  = object({ bytes = number, mib = number })
      run     = <<-SH
        dir=$(mktemp -d)
        trap 'rm -rf "$dir"' EXIT
        go build -ldflags='-s -w' -o "$dir/flowrun" ./cmd/flowrun
        bytes=$(wc -c < "$dir/flowrun")
        awk -v b="$bytes" 'BEGIN { printf "{\"bytes\": %d, \"mib\": %.1f}\n", b, b / 1048576 }'
      SH
    }
  }

  step "report" {
    value = {
      files    = tonumber(step.format.output)
      packages = step.test.output.packages
      coverage = step.test.output.percent
      mib      = step.build.output.mib
      seconds  = step.test.duration
    }
  }

  output "report" {
    value = "${step.report.output.files} files in ${step.report.output.packages} packages, ${step.report.output.coverage}% covered, ${step.report.output.mib} MiB"
  }

  # A test that passes only when it runs again, alone, is to be mended.
  output "again" { value = join(", ", step.test.output.again) }
  output "coverage" { value = step.report.output.coverage }
  output "mib" { value = step.report.output.mib }
}
