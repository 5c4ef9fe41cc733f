variable "token" {
  type      = string
  sensitive = true
}

agent "planner" {
  type    = "http"
  url     = "https://agents.example.com/plan"
  method  = "PUT"
  headers = { Authorization = "Bearer ${var.token}" }
}

workflow "plan" {
  step "plan" {
    agent   = agent.planner
    task    = "Plan the week."
    timeout = "10m"
  }
}
