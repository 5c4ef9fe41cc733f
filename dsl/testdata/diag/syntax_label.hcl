workflow "${x}" {
}
