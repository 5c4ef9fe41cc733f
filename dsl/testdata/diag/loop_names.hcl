agent "sam" { type = "null" }

workflow "w" {
  input "title" { type = string }
  step "s" { value = input.title }
}

gate "g" { check = "worker == ''" }

workflow "reads" {
  step "s" { value = item.title }
}
