package uselite

// fast is true, as every processor of 64 bits has NEON; tests turn it off.
var fast = true
