test "A feedback is repeated, and undone, as a whole" {
  crash_everywhere = true
  step "draft_product" { replies = [{}] }
  step "draft_review" { replies = [{ output = {} }] }
  step "fails" { replies = [{ exit_code = 1 }] }
  step "draft/compensate" { replies = [{}] }

  expect = [
    "run.status == 'failed' && step.draft.iterations == 2",
    "len(calls.draft_product) == 4 && len(calls['draft/compensate']) == 2",
  ]
}
