agent "search" {
  type    = "mcp"
  command = ["search-server"]
  tool    = "search"
  pin     = file("search.tool.json")
}

workflow "w" {
  step "a" {
    agent = agent.search
    with  = { query = "x", limit = 0 }
  }
}
