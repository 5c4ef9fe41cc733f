agent "search" {
  type    = "mcp"
  command = ["search-server"]
}

workflow "w" {
  step "a" { agent = agent.search }
}
