workflow "w" {
<<<<<<< HEAD
  step "a" { run = ["true"] }
=======
  step "a" { run = ["false"] }
>>>>>>> other
}
