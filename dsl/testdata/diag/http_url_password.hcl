variable "password" {
  type      = string
  sensitive = true
}

agent "remote" {
  type = "http"
  url  = "http://me@example.com/agent"
}

locals {
  site = "https://me:sesame@example.com/${1 + 1}"
}

workflow "w" {
  step "plain" {
    http {
      url = "https://me:sesame@example.com/status"
    }
  }
  step "template" {
    http {
      url = "https://me:${var.password}@example.com/status"
    }
  }
  step "local" {
    http {
      url = local.site
    }
  }
  step "odd" {
    http {
      url = "ftp://me:sesame@example.com/status"
    }
  }
  step "fine" {
    http {
      url     = "https://example.com/@me?to=a@b"
      headers = { Authorization = "Basic ${base64encode("me:${var.password}")}" }
    }
  }
  step "ask" {
    agent = agent.remote
    task  = "go"
  }
}
