workflow "a" {
  step "x" {
    run = |
      echo hi

      if true; then echo "$HOME"; fi
    timeout = 5m
  }
  step "y" {
    if  = success() && github.ref == 'refs/heads/main'
    run = "echo hi"
  }
}
