agent "a" {
  type = "null"
}

workflow "w" {
  sequence "s" {
    step "write" {
      agent = agent.a
      repeat { max = 2 }
    }
    step "ok" {
      approve {
        prompt = "Good?"
        revise = step.write
      }
    }
  }

  sequence "each" {
    step "draft" { agent = agent.a }
    step "each_ok" {
      for_each = [1, 2]
      approve {
        prompt = "Good?"
        revise = step.draft
      }
    }
  }

  sequence "overlap" {
    step "one" { agent = agent.a }
    step "two" { agent = agent.a }
    step "first" {
      approve {
        prompt = "Good?"
        revise = step.one
      }
    }
    step "second" {
      approve {
        prompt = "Good?"
        revise = step.two
      }
    }
  }

  sequence "names" {
    step "three" { agent = agent.a }
    step "third" {
      approve {
        prompt = "Good?"
        revise = step.three
      }
    }
  }
  step "third_rounds" { value = 1 }
}
