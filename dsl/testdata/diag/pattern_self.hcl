agent "author" { type = "null" }

workflow "w" {
  feedback "draft" {
    producer = agent.author
    reviewer = agent.author
    accept   = "review.output == product.output"
  }
}
