agent "search" {
  type    = "mcp"
  command = ["search-server"]
  tool    = "search"
  pin     = file("search.tool.json")
}

workflow "w" {
  input "n" { type = string }
  step "a" {
    agent = agent.search
    task  = "Find ${input.n}."
    with  = { query = input.n }
  }
}
