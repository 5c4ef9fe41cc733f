# Hand-overs: a step hands work to another agent, with all that the agent must know, and does not wait. The document, the work and the
# message are there together, once.
channel "dev" {
  type   = "file"
  path   = "messages.jsonl"
  dedupe = "0s"
}

agent "cal" {
  type = "null"
}

agent "dee" {
  type = "null"
}

pool "writers" { members = [agent.cal, agent.dee] }

workflow "profile" {
  step "files" { value = ["users.ts", "schema.ts"] }

  step "over" {
    handoff {
      to             = "leo"
      ticket         = "AGT-275"
      summary        = "The endpoint for profiles is there."
      next           = "Make the page that shows a profile.\nBegin with the name."
      files_changed  = step.files.output
      decisions      = ["Zod checks the input"]
      open_questions = ["Does the cache live for 1 h or for 24 h?"]
      acceptance     = ["The page shows the name", "A button edits the profile"]
      blockers       = ["The design is not there yet"]
      artifacts      = { pr = "https://example.com/pr/7" }
      priority       = 5
      notify         = [channel.dev]
    }
  }

  step "each" {
    for_each = ["ann", "bob"]
    handoff {
      to      = each.value
      summary = "The page is there."
      next    = "Test it, ${each.value}."
    }
  }

  # To an agent, to any member of a pool, and to the member of a name.
  step "agents" {
    handoff {
      to      = agent.dee
      summary = "The page is there."
      next    = "Describe it."
    }
    depends_on = [step.each, step.over]
  }

  step "writers" {
    handoff {
      to      = pool.writers
      summary = "The page is there."
      next    = "Describe it."
    }
    depends_on = [step.agents]
  }

  step "member" {
    for_each        = ["dee", "dea"]
    max_concurrency = 1
    handoff {
      to      = pool.writers[each.value]
      summary = "The page is there."
      next    = "Describe it."
    }
    depends_on = [step.writers]
    on_error   = "continue"
  }

  step "nobody" {
    handoff {
      to      = step.files.output[0] == "users.ts" ? "" : "leo"
      summary = "x"
      next    = "y"
    }
    on_error = "continue"
  }

  output "id" { value = step.over.output.id }
  output "no_member" { value = step.member.instances[1].error.reason }
  output "nobody" { value = [step.nobody.error.kind, step.nobody.error.reason] }
}
