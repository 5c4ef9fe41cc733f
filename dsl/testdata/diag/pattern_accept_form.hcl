agent "author" { type = "null" }
agent "critic" { type = "null" }

workflow "w" {
  feedback "d" {
    producer = agent.author
    accept   = "true"
    repeat { max = 3 }
  }

  feedback "a" {
    producer = agent.author
    reviewer = agent.critic
    accept   = review.output == "yes"
  }

  feedback "b" {
    producer = agent.author
    reviewer = agent.critic
    accept   = "review.output == '${product.output}'"
  }

  feedback "c" {
    producer = agent.author
    reviewer = agent.critic
    accept   = "review.output == // nothing"
  }
}
