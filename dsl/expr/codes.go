package expr

// The codes of this package's diagnostics. F03xx stand for values, F04xx for conditions, F05xx for type expressions. Where both
// languages can have the same fault, they share the code of values.
const (
	codeUnknownRoot    = "F0301"
	codeUnknownName    = "F0302"
	codeUnknownAttr    = "F0303"
	codeHiddenName     = "F0304"
	codeBareRoot       = "F0305"
	codeOperand        = "F0306"
	codeMaybeNull      = "F0307"
	codeUnknownFunc    = "F0308"
	codeArgCount       = "F0309"
	codeNoMembers      = "F0310"
	codeDuplicateKey   = "F0311"
	codeTooLarge       = "F0312"
	codeConstFails     = "F0313"
	codeNeverEqual     = "F0314"
	codeStatus         = "F0315"
	codeSyntax         = "F0316"
	codeStatic         = "F0317"
	codeRefusedFunc    = "F0318"
	codePattern        = "F0319"
	codeFile           = "F0320" // a file that cannot be read, or a path that is computed
	codeEmptyLast      = "F0321"
	codeNotLiteral     = "F0401"
	codeInterpolation  = "F0402"
	codeCondSyntax     = "F0403"
	codeCondLarge      = "F0404"
	codeCondRefused    = "F0405"
	codeCondType       = "F0406"
	codeTypeExpr       = "F0501"
	codeTypeUnknown    = "F0502"
	codeDoesNotConform = "F0503"
)

// Codes lists them, each with its meaning in a line. A code is never given another meaning.
var Codes = map[string]string{
	codeUnknownRoot:    "A name begins with an unknown word.",
	codeUnknownName:    "A variable, local, input or step is not declared.",
	codeUnknownAttr:    "An object does not have this attribute.",
	codeHiddenName:     "A name is not available here.",
	codeBareRoot:       "A step, input, variable or local is read without its name, or with a computed name.",
	codeOperand:        "An operator or function does not accept a value of this type.",
	codeMaybeNull:      "A value may be null, but null fails here.",
	codeUnknownFunc:    "A function does not exist.",
	codeArgCount:       "A function has too few or too many arguments.",
	codeNoMembers:      "A value does not have this member.",
	codeDuplicateKey:   "An object has the same key twice.",
	codeTooLarge:       "An expression or a number exceeds a limit.",
	codeConstFails:     "An expression fails in every run.",
	codeNeverEqual:     "A comparison of two types is never true.",
	codeStatus:         "A comparison with this text is never true.",
	codeSyntax:         "Unsupported HCL syntax.",
	codeStatic:         "A reference to a declaration is not a bare name.",
	codeRefusedFunc:    "A function would read the world outside the run.",
	codeFile:           "A file cannot be read.",
	codeEmptyLast:      "coalesce ends with an empty value, which it never returns.",
	codePattern:        "A regular expression cannot be used.",
	codeNotLiteral:     "A condition is not a text in quotes.",
	codeInterpolation:  "A condition has a ${}.",
	codeCondSyntax:     "A condition cannot be read.",
	codeCondLarge:      "A condition exceeds a limit.",
	codeCondRefused:    "A condition uses a part of expr-lang that flowrun does not support.",
	codeCondType:       "A condition is neither true nor false.",
	codeTypeExpr:       "Not a type.",
	codeTypeUnknown:    "A type does not exist.",
	codeDoesNotConform: "A value never has the type that is needed here.",
}
