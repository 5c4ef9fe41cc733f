locals {
  region = "eu"
}
workflow "w" {
  step "a" {
    run = ["echo", local.regoin]
  }
}
