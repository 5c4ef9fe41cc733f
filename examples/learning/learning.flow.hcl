# An agent that learns: it fails, and when the next task of the kind comes, it is told why, and passes.
#
#   flowrun apply examples/learning                                 # fails: nobody told it of the migrations
#   flowrun apply examples/learning --input service=billing         # another service, and it knows
#   flowrun memory list
#
# Take the memory away (delete .flowrun/memory.db), and it fails again. So it does without trusted = true: what an agent says that
# the file does not trust stays in its run, its last words on standard error included.

memory {}

agent "deployer" {
  type    = "exec"
  command = ["sh", "agent.sh"]
  input   = "text"
  soul    = "You deploy services. You are careful, and do what has helped before."
  memory { trusted = true }
}

workflow "deploy" {
  description = "Puts a service into production"

  input "service" {
    type    = string
    default = "shop"
  }

  step "deploy" {
    agent  = agent.deployer
    task   = "Deploy the service ${input.service} to production."
    output = object({ plan = string })
  }

  output "plan" { value = step.deploy.output.plan }
}
