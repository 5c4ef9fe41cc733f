agent "search" {
  type    = "mcp"
  command = ["search-server"]
  headers = { A = "b" }
  tool    = "search"
  pin     = file("search.tool.json")
}

workflow "w" {
  input "n" { type = string }
  step "a" {
    agent = agent.search
    with  = { query = input.n }
  }
}
