# A worker registers with its status, its capabilities and the time, renews the entry while it works, and signs off. An entry
# that is not renewed expires after 90 seconds: the worker is gone.

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

workflow "worker" {
  default = true
  input "id" {
    type    = string
    default = "worker1"
  }

  input "capabilities" {
    type    = list(string)
    default = ["go", "gpu"]
  }

  # One beat each 30 seconds: registered anew, then one piece of work.
  sequence "work" {
    repeat {
      until = "step.job.output.last"
      max   = 1000
      delay = "30s"
    }

    step "register" {
      kv {
        set       = input.id
        namespace = "workers"
        ttl       = "90s"
        value     = { status = "active", capabilities = input.capabilities, beat = iteration }
      }
    }

    step "job" {
      agent  = agent.worker
      with   = { worker = input.id, beat = step.register.output.beat }
      output = object({ last = bool })
    }
  }

  finally {
    step "sign_off" {
      kv {
        delete    = input.id
        namespace = "workers"
      }
    }
  }
}

# Who is there: what flowrun kv list --namespace workers shows, for other workflows.
workflow "who" {
  step "scan" {
    kv {
      scan      = ""
      namespace = "workers"
    }
  }

  output "workers" { value = step.scan.output }
}
