workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      case "$BRANCH" in
        ${input.x}) echo same ;;
      esac
    EOT
  }
}
