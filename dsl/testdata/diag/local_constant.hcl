locals {
  zero  = 0
  parts = [1, local.zero]
  ratio = { part = 1 / local.parts[1] }
  long  = "5 parsecs"
  none  = -1
  where = "ftp://example.com"
  kept  = try(1 / local.zero, 0)
}

workflow "w" {
  step "a" { value = 1 / local.zero }

  step "b" {
    run     = ["echo", "${upper(local.long)} ${local.parts[7 / local.zero]}"]
    when    = "10 % local.zero == 1"
    timeout = local.long
    retry { max_attempts = local.none }
  }

  step "c" {
    http { url = "${local.where}/x" }
  }

  step "d" { value = run.id == "" ? 1 / local.zero : local.kept }
}
