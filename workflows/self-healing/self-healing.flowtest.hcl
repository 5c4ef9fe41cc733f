test "a failure that can be repaired is healed, and the next attempt knows what was done" {
  crash_everywhere = true
  agent "builder" {
    replies = [
      { error = { kind = "recoverable", message = "no go.sum" } },
      { output = { artifact = "app-1" } },
    ]
  }

  agent "doctor" { replies = [{ output = { hint = "go mod tidy was run" } }] }

  expect = [
    "run.outputs == {'artifact': 'app-1', 'built_by': 'builder', 'escalated': 'self_heal'}",
    "len(notifications) == 0",
    "len(calls.builder) == 2 && calls.builder[1].with.hint == 'go mod tidy was run'",
    "calls.doctor[0].with == {'problem': 'no go.sum', 'attempt': 1}",
  ]
}

test "a failure that passes by itself is retried with waits, and no person is asked" {
  agent "builder" {
    replies = [
      { error = { kind = "blocking", message = "connection reset by peer" } },
      { output = { artifact = "app-1" } },
    ]
  }

  expect = [
    "run.status == 'succeeded' && step.build.escalated == null && step.build.attempts == 2",
    "calls.builder[1].at == 5",
  ]
}

test "after three failures another agent takes over and hears what has happened" {
  crash_everywhere = true
  agent "builder" { replies = [{ error = { kind = "transient", message = "overloaded" } }] }
  agent "senior" { replies = [{ output = { artifact = "app-2" } }] }

  expect = [
    "run.outputs == {'artifact': 'app-2', 'built_by': 'senior', 'escalated': 'peer_assist'}",
    "len(calls.builder) == 3 && len(calls.senior) == 1",
    "calls.senior[0].feedback contains 'attempt 3 of agent \"builder\" failed (transient, agent): overloaded'",
  ]
}

test "healing that does not help leads to the other agent" {
  agent "builder" { replies = [{ error = { kind = "recoverable", message = "no go.sum" } }] }
  agent "doctor" { replies = [{ error = { kind = "blocking", message = "no idea" } }] }
  agent "senior" { replies = [{ output = { artifact = "app-2" } }] }

  expect = [
    "run.outputs.built_by == 'senior' && step.build.escalated == 'peer_assist'",
    "len(calls.builder) == 1 && len(calls.doctor) == 1",
  ]
}

test "a failure that no agent can repair waits for a person, who gets a message at the first failure" {
  crash_everywhere = true
  agent "builder" {
    replies = [
      { error = { kind = "fatal", message = "no permission for the registry" } },
      { output = { artifact = "app-1" } },
    ]
  }

  decide "build" {
    decision = "retry"
    by       = "ann"
    comment  = "the token is renewed"
    after    = "1h"
  }

  at "30m" { expect = ["len(inbox) == 1 && inbox[0].kind == 'escalation' && len(calls.builder) == 1"] }

  expect = [
    "run.outputs == {'artifact': 'app-1', 'built_by': 'builder', 'escalated': 'human_alert'}",
    "len(calls.builder) == 2 && calls.builder[1].at == 3600",
    "len(notifications) == 1 && notifications[0].channel == 'people' && notifications[0].data.level == 'human_alert' && notifications[0].at == 0",
  ]
}

test "a person hands in what the builder cannot make" {
  agent "builder" { replies = [{ error = { kind = "fatal", message = "no permission for the registry" } }] }

  decide "build" {
    decision = "ack"
    by       = "ann"
    after    = "7h"
  }

  decide "build" {
    decision = "override"
    by       = "ann"
    output   = { artifact = "app-by-hand" }
    after    = "30h"
  }
  expect = ["run.outputs.artifact == 'app-by-hand' && step.build.by == 'ann' && len(calls.builder) == 1"]
}

test "if no person decides within eight hours, the build has failed" {
  agent "builder" { replies = [{ error = { kind = "fatal", message = "no permission for the registry" } }] }
  expect = ["run.status == 'failed' && run.error.message == 'no permission for the registry' && elapsed == 28800"]
}

test "the person on call gets one message that production is down, and the build continues" {
  agent "builder" {
    replies = [
      { error = { kind = "transient", message = "production is down" } },
      { error = { kind = "transient", message = "production is still down" } },
      { output = { artifact = "app-1" } },
    ]
  }

  expect = [
    "run.status == 'succeeded' && step.build.escalated == 'emergency' && step.build.attempts == 3",
    "len(notifications) == 1 && notifications[0].channel == 'on_call' && notifications[0].at == 0",
  ]
}
