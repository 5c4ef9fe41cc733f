workflow "w" {
  step "write" {
    kv {
      set       = "release"
      value     = "1.2"
      namespace = "builds"
    }
  }

  step "read" {
    depends_on = [step.write]

    kv {
      get       = "release"
      namespace = "builds"
    }
  }

  step "change" {
    kv {
      cas       = "release"
      old       = step.read.output
      value     = "1.3"
      namespace = "builds"
    }
  }

  step "list" {
    kv {
      scan      = "rel"
      limit     = 100
      namespace = "builds"
    }
  }

  step "remove" {
    depends_on = [step.list]

    kv {
      delete    = "release"
      namespace = "builds"
    }
  }
}
