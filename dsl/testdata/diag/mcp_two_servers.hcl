agent "search" {
  type    = "mcp"
  command = ["search-server"]
  url     = "http://localhost:1/mcp"
  tool    = "search"
}

workflow "w" {
  step "a" { agent = agent.search }
}
