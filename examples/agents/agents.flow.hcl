# Three agents, each a program of about twenty lines that speaks flowrun's protocol: see  flowrun explain protocol.
#
#   flowrun apply examples/agents
#   flowrun apply examples/agents --input 'languages=["sh"]'

agent "shell" {
  type      = "exec"
  command   = ["sh", "agent.sh"]
  input     = "text" # no JSON to read: the task alone
  heartbeat = "30s"
}

agent "python" {
  type      = "exec"
  command   = ["python3", "agent.py"]
  heartbeat = "30s"
}

agent "node" {
  type      = "exec"
  command   = ["node", "agent.js"]
  heartbeat = "30s"
}

workflow "count" {
  description = "How many words has a text? Three agents say."

  input "text" {
    type    = string
    default = "the quick brown fox jumps over the lazy dog"
  }

  input "languages" {
    type    = list(string)
    default = ["sh", "python", "node"]
  }

  parallel "agents" {
    step "sh" {
      agent  = agent.shell
      when   = "'sh' in input.languages"
      task   = input.text
      output = object({ words = number })
    }

    step "python" {
      agent  = agent.python
      when   = "'python' in input.languages"
      task   = input.text
      output = object({ words = number })
    }

    step "node" {
      agent  = agent.node
      when   = "'node' in input.languages"
      task   = input.text
      output = object({ words = number })
    }
  }

  output "words" {
    value = { for name, said in step.agents.output : name => said.words if said != null }
  }
}
