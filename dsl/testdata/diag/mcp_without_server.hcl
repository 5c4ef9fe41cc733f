agent "search" {
  type = "mcp"
  tool = "search"
}

workflow "w" {
  step "a" { agent = agent.search }
}
