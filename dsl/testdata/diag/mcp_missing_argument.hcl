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
    with  = { limit = 3 }
  }
}
