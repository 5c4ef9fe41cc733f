test "a run that waits for a version continues once CI has noted that it is deployed" {
  agent "tester" { replies = [{ output = "passed" }] }
  step "deploy" { replies = [{ takes = "30m" }] }

  start "waits" {
    workflow = workflow.accept
    inputs   = { application = "shop", version = "1.4" }
  }

  start "older" {
    workflow = workflow.note
    inputs   = { application = "shop", version = "1.3", status = "deployed" }
    after    = "1m"
  }

  start "ci" {
    workflow = workflow.deploy
    inputs   = { application = "shop", version = "1.4" }
    after    = "10m"
  }

  at "39m" { expect = ["len(calls.tester) == 0 && kv['deployment/state.shop'] == {'status': 'deploying', 'version': '1.4', 'at': '2026-01-05T08:10:00.000Z'}"] }

  expect = [
    "all(runs, #.status == 'succeeded') && runs.waits.ended == 2410",
    "kv['deployment/state.shop'] == {'status': 'deployed', 'version': '1.4', 'at': '2026-01-05T08:40:00.000Z'}",
    "all(calls.tester, #.task == 'Test version 1.4 of shop.' && #.with.deployed.at == '2026-01-05T08:40:00.000Z') && len(calls.tester) == 2",
  ]
}

test "a deployment that fails is noted, and nothing is tested" {
  inputs = { application = "shop", version = "2" }
  step "deploy" { replies = [{ exit_code = 1 }] }

  expect = ["run.status == 'failed' && kv['deployment/state.shop'].status == 'failed' && step.check.status == 'blocked'"]
}

test "who waits for a version that was not deployed fails" {
  workflow = workflow.accept
  inputs   = { application = "shop", version = "2" }
  kv       = { "deployment/state.shop" = { status = "failed", version = "2", at = "2026-01-05T07:00:00.000Z" } }

  expect = ["run.status == 'failed' && step.tested.error.message contains 'the deployment of 2 has failed'"]
}

test "deployments of an application take turns" {
  agent "tester" { replies = [{ output = "passed" }] }
  step "deploy" { replies = [{ takes = "30m" }] }

  start "one" { inputs = { application = "shop", version = "1" } }
  start "two" { inputs = { application = "shop", version = "2" } }
  start "other" { inputs = { application = "bank", version = "7" } }

  expect = ["map(calls.deploy, #.at) == [0, 0, 1800] && kv['deployment/state.shop'].version == '2'"]
}
