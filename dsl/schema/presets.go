package schema

// Providers are those whose APIs chat agents speak.
var Providers = []string{"openai", "anthropic", "gemini"}

// Presets are the agents whose attributes come with flowrun.
var Presets = []string{"claude", "codex", "gemini", "goose", "aider"}
