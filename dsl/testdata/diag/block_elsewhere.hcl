step "a" { run = ["true"] }
