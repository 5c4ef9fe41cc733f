workflow "w" {
  input "x" { type = string }
  input "known" {
    type = string
    enum = ["a", "b"]
  }
  dir = "pkg/${input.x}"

  step "list" { run = ["./run.sh"] }
  step "script" { run = "sh build.sh" }
  step "own" {
    dir = input.x
    run = "make && ./run.sh ${input.x}"
    gate "g" { run = "./check.sh" }
  }
  step "fine" { run = ["make"] }
  step "absolute" { run = "/opt/run.sh && go test ./..." }
  step "known" {
    dir = input.known
    run = ["./run.sh"]
  }
  step "chosen" {
    dir = input.x == "" ? "a" : "b"
    run = "./run.sh"
  }
  step "written" {
    dir = "a"
    run = "./run.sh"
  }
}
