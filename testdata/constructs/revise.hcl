# People ask for revisions: the steps from the revised one to the approval are made again, with the comment as feedback. Two approvals can
# revise the same step. After the last revision there is only yes or no. Each round sends a message with the command that answers. The agent here answers with what it was asked.

agent "author" {
  type    = "exec"
  command = ["agent"]
}

channel "log" {
  type = "file"
  path = "messages.jsonl"
}

workflow "w" {
  sequence "ship" {
    step "plan" { value = "rain" }

    step "write" {
      agent = agent.author
      task  = "Write about ${previous.output}."
    }

    step "count" { value = iteration }

    step "ok" {
      approve {
        prompt  = "Good?"
        show    = step.write.output
        revise  = step.write
        notify  = [channel.log]
        timeout = "100ms"
        default = "approve"
        input "day" {
          type    = string
          default = "monday"
        }
      }
    }

    step "publish" { value = [step.write.output.feedback, step.count.output, previous.output.input.day] }
  }

  sequence "twice" {
    depends_on = [step.ok, step.write]
    on_error   = "continue"

    step "draft" {
      agent = agent.author
      task  = "Draft."
    }

    step "legal" {
      approve {
        prompt        = "Lawful?"
        show          = step.draft.output
        revise        = step.draft
        max_revisions = 1
        timeout       = "100ms"
        default       = "approve"
      }
    }

    step "boss" {
      approve {
        prompt        = "Good?"
        show          = [step.draft.output, step.legal.output.decision]
        revise        = step.draft
        max_revisions = 1
        timeout       = "200ms"
      }
    }
  }

  output "published" { value = step.publish.output }
  output "rounds" { value = step.ok.iterations }
  output "ship" { value = keys(step.ship.output) }
  output "boss" { value = try(step.boss.output.decision, step.boss.status) }
}
