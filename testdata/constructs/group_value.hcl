# A group may say what its output is, and who won: here the best of two answers that are scored.
workflow "group_value" {
  parallel "best" {
    value  = { for name, text in step.best_answers.output : name => upper(text) }
    winner = argmax({ quick = step.quick.output.score, thorough = step.thorough.output.score })

    sequence "best_answers" {
      value = { quick = step.quick.output.text, thorough = step.thorough.output.text }

      step "quick" { value = { text = "a draft", score = 0.4 } }

      step "thorough" { value = { text = "a study", score = 0.9 } }
    }
  }

  sequence "numbers" {
    for_each = [1, 2, 3]
    value    = step.square.output + iteration
    repeat { max = 2 }

    step "square" { value = each.value * each.value }
  }

  output "winner" { value = step.best.winner }
  output "texts" { value = step.best.output }
  output "numbers" { value = step.numbers.output }
}
