# If a step refuses its input, an agent repairs the input, and the step runs again.

agent "fixer" {
  type    = "exec"
  command = ["./agents/fixer"]
}

agent "importer" {
  type    = "exec"
  command = ["./agents/importer"]
}

workflow "import" {
  input "record" {
    type    = string
    default = "name=Ada;born=10.12.1815"
  }

  sequence "rounds" {
    value = step.load.output
    repeat {
      until = "step.load.status == 'succeeded'"
      max   = 3
    }

    step "record" { value = coalesce(last.step.fix.output.record, input.record) }

    step "load" {
      agent    = agent.importer
      with     = { record = step.record.output }
      on_error = "continue"
    }

    step "fix" {
      agent  = agent.fixer
      task   = "Mend this record."
      with   = { record = step.record.output, said = step.load.error.message }
      output = object({ record = string })
      when   = "step.load.status == 'failed'"
    }
  }

  output "loaded" { value = step.rounds.output }
}
