# One request. The output is an object of status, headers and body.

workflow "fetch" {
  input "page" {
    type    = number
    default = 2
  }

  step "get" {
    http {
      url   = "https://example.com/items"
      query = { page = input.page, q = "a b" }
    }
  }

  step "put" {
    http {
      url    = "https://example.com/copy"
      method = "PUT"
      body   = { was = step.get.output.body }
    }
  }

  output "got" { value = step.get.output.body }
  output "status" { value = step.put.output.status }
}
