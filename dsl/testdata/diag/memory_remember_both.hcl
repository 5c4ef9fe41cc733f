workflow "w" {
  step "a" {
    remember {
      text        = "Tag first."
      lesson      = "Tag before publishing."
      observation = "It failed."
    }
  }
  step "b" {
    remember {
      text    = "Tag first."
      context = "publishing"
    }
  }
  step "c" {
    remember {}
  }
}
