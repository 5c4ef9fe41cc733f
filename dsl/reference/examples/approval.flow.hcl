channel "ops" {
  type = "webhook"
  url  = "https://hooks.example.com/ops"
}

workflow "publish" {
  description = "Publishes the site after a person has looked at it."

  step "ask" {
    approve {
      prompt        = "Publish the site?"
      default       = "approve"
      timeout       = "24h"
      notify        = [channel.ops]
      quorum        = 2
      rejections    = 2
      max_revisions = 3

      input "day" {
        type        = string
        description = "The day of the release."
        default     = "today"
      }
    }
  }
}
