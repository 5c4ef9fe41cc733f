# A model that may use two tools of an MCP server, and no others: it searches a shelf of notes, reads what it finds, and answers with an object.
# stub.go stands in for the model, and is the server, too; both run without a key and without a network:
#
#   go run examples/chat-tools/stub.go model 8090 &
#   flowrun apply examples/chat-tools
#   flowrun agents test librarian examples/chat-tools --task "What do we know about tides?"
#   flowrun doctor examples/chat-tools
#
# With a provider, remove base_url and give the key:  key = var.openai_key,  a sensitive variable.

variable "url" {
  type    = string
  default = "http://127.0.0.1:8090/v1"
}

agent "librarian" {
  type           = "chat"
  provider       = "openai"
  base_url       = var.url
  model          = "stub-librarian"
  soul           = "You answer from the notes on the shelf, and from nothing else."
  timeout        = "2m"
  max_turns      = 6
  context_tokens = 4000
  output         = object({ answer = string, notes = list(string) })

  server "shelf" {
    command = ["go", "run", "stub.go", "server"]
    tools   = ["search", "read"] # the server can also burn notes; the model does not hear of it
    pin     = file("shelf.tools.json")
  }
}

workflow "ask" {
  input "about" {
    type    = string
    default = "tides"
  }

  budget { tokens = 20000 }

  step "answer" {
    agent = agent.librarian
    task  = "What do we know about ${input.about}?"
  }

  output "answer" { value = step.answer.output.answer }
  output "notes" { value = step.answer.output.notes }
}
