package schema

// Presets are the agents whose attributes come with flowrun.
var Presets = []string{"claude", "codex", "gemini", "goose", "aider"}
