test "three of five are a majority" {
  crash_everywhere = true
  workflow         = workflow.majority

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = false } }] }
  agent "security" { replies = [{ output = { approve = true } }] }
  agent "operations" { replies = [{ output = { approve = false } }] }

  expect = ["run.outputs.approved == true", "run.outputs.share == 0.6"]
}

test "two of five are none" {
  workflow = workflow.majority

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = false } }] }
  agent "security" { replies = [{ output = { approve = false } }] }
  agent "operations" { replies = [{ output = { approve = false } }] }

  expect = ["run.outputs.approved == false"]
}

test "a voter that fails abstains" {
  workflow = workflow.majority

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = true } }] }
  agent "security" { replies = [{ error = { kind = "fatal", message = "no answer" } }] }
  agent "operations" { replies = [{ output = { approve = true } }] }

  expect = ["run.outputs.approved == true", "run.outputs.abstained == ['security']"]
}

test "without a quorum nothing is decided" {
  workflow = workflow.majority

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ error = { kind = "fatal", message = "no answer" } }] }
  agent "frontend" { replies = [{ error = { kind = "fatal", message = "no answer" } }] }
  agent "security" { replies = [{ error = { kind = "fatal", message = "no answer" } }] }
  agent "operations" { replies = [{ output = { approve = true } }] }

  expect = ["run.status == 'failed' && step.ship.error.kind == 'blocking' && step.ship.error.reason == 'undecided'"]
}

test "all agree" {
  workflow = workflow.unanimous

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = true } }] }
  agent "security" { replies = [{ output = { approve = true } }] }
  agent "operations" { replies = [{ output = { approve = true } }] }

  expect = ["run.outputs.approved == true"]
}

test "four yes and one no are a no" {
  workflow = workflow.unanimous

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = true } }] }
  agent "security" { replies = [{ output = { approve = false } }] }
  agent "operations" { replies = [{ output = { approve = true } }] }

  expect = ["run.outputs.approved == false"]
}

test "0.8 of the weight reaches 0.75" {
  workflow = workflow.weighted

  agent "architect" { replies = [{ output = { approve = true } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = true } }] }
  agent "operations" { replies = [{ output = { approve = false } }] }

  expect = ["run.outputs.approved == true"]
}

test "0.6 of the weight does not" {
  workflow = workflow.weighted

  agent "architect" { replies = [{ output = { approve = false } }] }
  agent "backend" { replies = [{ output = { approve = true } }] }
  agent "frontend" { replies = [{ output = { approve = true } }] }
  agent "operations" { replies = [{ output = { approve = true } }] }

  expect = ["run.outputs.approved == false"]
}
