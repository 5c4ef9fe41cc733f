test "Runs share state under keys, and each change is made once" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.build == 1",
    "run.outputs.told[1] == 'store'",
    "step.claim.output.swapped && !step.claim_again.output.swapped",
    "step.missing.output == null",
    "step.add.error.kind == 'blocking'",
    "len(step.versions.output) == 1",
    "step.release.output",
  ]
}
