on "Order" { workflow = workflow.w }
on "order.*.done" { workflow = workflow.w }
on "*" { workflow = workflow.w }
on "flowrun.runs" { workflow = workflow.w }
on "order.*" { workflow = workflow.ww }

workflow "w" {
  step "a" { run = ["true"] }
}
