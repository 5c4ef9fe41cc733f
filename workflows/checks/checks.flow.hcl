# A first workflow: it checks the files of a folder, and needs only a shell.
#
#   flowrun validate checks.flow.hcl                    checks this file
#   flowrun apply checks.flow.hcl                       runs it
#   flowrun apply checks.flow.hcl --input folder=src    checks another folder
#   flowrun explain step                                describes the attributes of a step

variable "large_kib" {
  type        = number
  default     = 1024
  description = "From how many KiB on a file is large"
}

# A gate judges what a step has made. When it does not pass, the step fails, and so does the run.
gate "nothing_found" {
  check   = "length(result.output) == 0"
  message = "found in ${join(", ", result.output)}"
}

workflow "checks" {
  description = "Looks over the files of a folder"

  input "folder" {
    type    = string
    default = "."
  }

  # The nodes of a parallel run at once.
  parallel "look" {
    step "conflicts" {
      # A value reaches the script as data: no name of a folder can become a command.
      run   = "grep -rlE '^(<<<<<<<|>>>>>>>) ' --exclude-dir=.git --exclude-dir=.flowrun -- ${input.folder} || test $? -eq 1"
      parse = "lines"
      gates = [gate.nothing_found]
    }

    step "large" {
      run   = <<-EOT
        cd -- ${input.folder}
        find . \( -name .git -o -name .flowrun \) -prune -o -type f -size +${var.large_kib}k -print
      EOT
      parse = "lines"
    }

    step "count" {
      run    = <<-EOT
        cd -- ${input.folder}
        find . \( -name .git -o -name .flowrun \) -prune -o -type f -print | wc -l
      EOT
      parse  = "json"
      output = number
    }
  }

  # This step reads the others, so it waits for them; nothing else has to be said.
  step "report" {
    value = "${step.count.output} files, ${length(step.large.output)} of them larger than ${var.large_kib} KiB"
  }

  # A condition: the step runs only where it holds, and is skipped elsewhere.
  step "warn" {
    when = "length(step.large.output) > 0"
    run  = concat(["echo", "large:"], step.large.output)
  }

  output "report" { value = step.report.output }
  output "large" { value = step.large.output }
}
