test "One request. The output is an object of status, headers and body" {
  crash_everywhere = true
  step "get" { replies = [{ status = 200, output = {} }] }

  step "put" { replies = [{ status = 200, output = {} }] }

  expect = [
    "run.status == 'succeeded'",
    "node['get'].status == 'succeeded'",
    "node['put'].status == 'succeeded'",
  ]
}
