package expr

// The codes of this package's diagnostics. F03xx stand for values, F04xx for conditions, F05xx for type expressions. Where both
// languages can have the same fault, they share the code of values.
const (
	codeUnknownRoot    = "F0301" // a name that nothing in the language has
	codeUnknownName    = "F0302" // a variable, local, input or step that is not declared
	codeUnknownAttr    = "F0303" // an attribute that the type of the object does not have
	codeHiddenName     = "F0304" // a name that exists but cannot be read in this place
	codeBareRoot       = "F0305" // var, local, input or step without a literal name behind it
	codeOperand        = "F0306" // an operand or argument of a type that the operator or function does not take
	codeMaybeNull      = "F0307" // a value that may be null where null fails
	codeUnknownFunc    = "F0308" // a function that does not exist
	codeArgCount       = "F0309" // too few or too many arguments
	codeNoMembers      = "F0310" // .name or [index] on something that has no members
	codeDuplicateKey   = "F0311" // a key that stands twice in one object
	codeTooLarge       = "F0312" // an expression beyond the bounds: nesting, digits, exponent
	codeConstFails     = "F0313" // an expression that reads nothing and fails when it is evaluated
	codeNeverEqual     = "F0314" // a comparison of two types that are never equal
	codeStatus         = "F0315" // a string that is none of the values an enumeration can have
	codeSyntax         = "F0316" // a form of HCL that flowrun does not take
	codeStatic         = "F0317" // a static reference that is not a bare root.name
	codeRefusedFunc    = "F0318" // a function that would read the world: a clock, randomness, the environment, files
	codePattern        = "F0319" // a regular expression that does not compile or is beyond the bounds
	codeNotLiteral     = "F0401" // a condition that is not a literal string
	codeInterpolation  = "F0402" // ${} inside a condition
	codeCondSyntax     = "F0403" // a condition that expr-lang cannot parse
	codeCondLarge      = "F0404" // a condition beyond the bounds: length, nesting, nodes, nested predicates
	codeCondRefused    = "F0405" // a part of expr-lang that conditions do not have
	codeCondType       = "F0406" // a condition that is not a bool
	codeTypeExpr       = "F0501" // not a type expression
	codeTypeUnknown    = "F0502" // a type name that does not exist
	codeDoesNotConform = "F0503" // a value whose type can never be what its place needs
)
