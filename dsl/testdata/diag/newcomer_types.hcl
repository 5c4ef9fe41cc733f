workflow "ci" {
  max_concurrency = "2"
  input "env" { type = "string" }
  step "build" {
    run     = ["make", "build"]
    timeout = 30
    gates {
      check = "true"
    }
    retry {
      max_attempts = "3"
      base_delay   = 5
      when         = "error"
    }
  }
  step "shards" {
    run      = ["make", "test"]
    for_each = "a, b, c"
    timeout  = "30"
    parse    = json
  }
}
