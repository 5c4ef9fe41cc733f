workflow ci {
  input "env" {
    type     = string
    required = true
  }
  step "build" {
    run  = ["make", "build"]
    when = "${input.env} == 'prod'"
  }
  step "deploy" {
    needs = [build]
    if    = "success()"
    run   = "deploy -- ${input.env}"
    retry = 3
    env {
      ENV = "prod"
    }
  }
}
