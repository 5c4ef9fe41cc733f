workflow "w" {
  step "write" { value = 1 }

  step "ok" {
    approve {
      prompt = "Good?"
      revise = step.write
    }
  }

  parallel "side" {
    step "ask" {
      approve {
        prompt        = "Good?"
        revise        = step.draft
        max_revisions = 0
      }
    }
    step "draft" { value = 2 }
  }

  sequence "late" {
    step "b_ok" {
      approve {
        prompt = "Good?"
        revise = step.b
      }
    }
    step "b" { value = 3 }
    step "c" {
      approve {
        prompt = "Good?"
        revise = step.write
      }
    }
    step "d" {
      approve {
        prompt = "Good?"
        revise = "b"
      }
    }
  }
}
