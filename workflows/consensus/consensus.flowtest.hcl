test "three of five are a majority" {
  crash_everywhere = true
  workflow         = workflow.majority
  inputs           = { question = "Ship it?" }
  agent "voter" { replies = [{ output = { approve = contains(["architect", "backend", "security"], request.with.voter) } }] }

  expect = ["run.outputs.approved == true", "run.outputs.share == 0.6", "len(calls.voter) == 5 && max_at_once.voter == 5"]
}

test "two of five are none" {
  workflow = workflow.majority
  inputs   = { question = "Ship it?" }
  agent "voter" { replies = [{ output = { approve = contains(["architect", "backend"], request.with.voter) } }] }

  expect = ["run.outputs.approved == false"]
}

test "a voter that fails abstains" {
  workflow = workflow.majority
  inputs   = { question = "Ship it?" }
  agent "voter" {
    replies = [{
      error  = request.with.voter == "security" ? { kind = "fatal", message = "no answer" } : null
      output = { approve = true }
    }]
  }

  expect = ["run.outputs.approved == true", "run.outputs.abstained == ['security']"]
}

test "all agree" {
  workflow = workflow.unanimous
  inputs   = { question = "Ship it?" }
  agent "voter" { replies = [{ output = { approve = true } }] }

  expect = ["run.outputs.approved == true"]
}

test "four yes and one no are a no" {
  workflow = workflow.unanimous
  inputs   = { question = "Ship it?" }
  agent "voter" { replies = [{ output = { approve = request.with.voter != "security" } }] }

  expect = ["run.outputs.approved != true"]
}

test "0.8 of the weight reaches 0.75" {
  workflow = workflow.weighted
  inputs   = { question = "Ship it?" }
  agent "voter" { replies = [{ output = { approve = request.with.voter != "operations" } }] }

  expect = ["run.outputs.approved == true"]
}

test "0.6 of the weight does not" {
  workflow = workflow.weighted
  inputs   = { question = "Ship it?" }
  agent "voter" { replies = [{ output = { approve = request.with.voter != "architect" } }] }

  expect = ["run.outputs.approved != true"]
}
