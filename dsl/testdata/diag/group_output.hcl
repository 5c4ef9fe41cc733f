# The type of a group's output is judged as that of a step's.
workflow "w" {
  sequence "wrong" {
    output = list(string)
    step "a" { value = 1 }
  }

  parallel "right" {
    output = object({ b = number })
    step "b" { value = 1 }
  }

  output "sum" { value = step.right.output.b + step.right.output.c }
}
