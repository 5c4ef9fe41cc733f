test "a deployment that fails fails the run" {
  agent "deployer" { replies = [{ error = { message = "the migrations were not run" } }] }

  expect = [
    "run.status == 'failed'",
    "run.error.message contains 'migrations'",
  ]
}

test "the task names the service" {
  inputs = { service = "billing" }
  agent "deployer" { replies = [{ output = { plan = request.task } }] }

  expect = ["run.outputs.plan == 'Deploy the service billing to production.'"]
}
