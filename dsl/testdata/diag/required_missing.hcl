workflow "w" {
  step "a" { run = ["true"] }
  output "o" { description = "nothing" }
}
