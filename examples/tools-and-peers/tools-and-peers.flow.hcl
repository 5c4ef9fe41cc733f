# A tool of an MCP server finds notes, and a coding agent that speaks the Agent Client Protocol writes a summary of them. Both are small
# scripts here, so the example runs offline; put the command of a real server and of a real agent in their place.

agent "search" {
  type    = "mcp"
  command = ["./notes-server"]
  tool    = "search"
  pin     = file("search.tool.json") # flowrun agents pin search --out search.tool.json
  timeout = "1m"
  output  = object({ found = list(string) })
}

agent "writer" {
  type    = "acp"
  command = ["./writer"]
  timeout = "5m"
  files   = "read"

  permission {
    kinds = ["edit"]
    paths = ["out/**"]
    allow = true
  }
}

workflow "summarize" {
  input "about" {
    type    = string
    default = "tea"
  }

  step "find" {
    agent = agent.search
    with  = { query = input.about }
  }

  step "write" {
    agent = agent.writer
    task  = "Write a summary of these notes to out/summary.txt."
    with  = { notes = step.find.output.found }
  }

  output "notes" { value = length(step.find.output.found) }
  output "said" { value = step.write.output }
}
