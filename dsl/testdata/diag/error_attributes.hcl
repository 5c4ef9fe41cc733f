workflow "w" {
  step "fetch" {
    run = ["./fetch"]
    retry { max_attempts = 3 }
    classify {
      when = "error.stderr contains 'no space left'"
      kind = "fatal"
    }
    classify {
      when = "error.text contains 'no space left'"
      kind = "fatal"
    }
    classify {
      when = "error.code == 7"
      kind = "transient"
    }
    classify {
      when = "error.type == 'timeout'"
      kind = "transient"
    }
  }
}
workflow "left" {
  step "fetch" {
    run = ["./fetch"]
    retry {
      max_attempts = 3
      when         = "result.output == '' || result.status == 'failed'"
    }
    classify {
      when = "stderr contains 'no space left'"
      kind = "fatal"
    }
    classify {
      when = "result.stdout contains 3"
      kind = "fatal"
    }
  }
}
