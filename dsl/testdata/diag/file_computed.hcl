variable "name" { default = "x" }
workflow "w" {
  step "s" { value = file("${var.name}.md") }
}
