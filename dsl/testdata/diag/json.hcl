{
  "workflow": {}
}
