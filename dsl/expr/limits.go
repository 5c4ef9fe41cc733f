package expr

// The bounds. Those on text hold before a parser sees it; those on work hold in every evaluation, so that no small input
// can exhaust time, stack or memory.
const (
	// MaxConditionBytes bounds the text of a condition.
	MaxConditionBytes = 4 << 10
	// MaxConditionDepth bounds brackets in each other in a condition.
	MaxConditionDepth = 32
	// MaxConditionNodes bounds the syntax tree of a condition.
	MaxConditionNodes = 500
	// MaxPredicateDepth bounds how deep predicates (all, filter …) lie in each other: an evaluation costs the product of
	// their lists.
	MaxPredicateDepth = 2
	// MaxValueBytes bounds the text of a value.
	MaxValueBytes = 1 << 20
	// MaxValueDepth bounds brackets, templates and prefix operators in each other in a value, MaxConditionals its question marks.
	MaxValueDepth   = 64
	MaxConditionals = 1000
	// MaxDigits and MaxExponent bound number literals: HCL holds numbers with arbitrary precision, and 1e8000000 costs it 43 s.
	MaxDigits   = 40
	MaxExponent = 400
	// MaxPatternBytes bounds a regular expression, MaxPatternInstr its compiled program ("(.*a){900}b" has 11 bytes).
	MaxPatternBytes = 256
	MaxPatternInstr = 4000
	// MaxStringBytes bounds every string that an evaluation makes.
	MaxStringBytes = 1 << 20
	// MaxRange bounds the members that range and a..b make, and every list that a function makes.
	MaxRange = 200_000
	// MaxSteps bounds the nodes that one evaluation computes; a step takes 20 to 100 ns.
	MaxSteps = 4_000_000
	// PauseSteps is how many steps are computed at most between two calls of the function of [Evaluator.SetPause].
	PauseSteps = 16_384
	// MaxBytes bounds the memory that one evaluation asks for, freed or not.
	MaxBytes = 64 << 20
	// MaxResultBytes bounds the JSON of what an evaluation gives, about: lists may share their members in memory, and ten
	// locals of ten copies each would be written out as 10^10. value.MaxDepth bounds its nesting.
	MaxResultBytes = 16 << 20
	// MaxTypeSize bounds the parts of an inferred type. Members of larger ones are typed any, for the same reason.
	MaxTypeSize = 1000
	// MaxKeptBytes bounds the text whose trees an evaluator keeps: 80,000 conditions of the usual 50 bytes. A tree takes 10
	// to 100 times the memory of its text.
	MaxKeptBytes = 4 << 20
	// maxPath bounds the members in one path, a.b.c….
	maxPath = 100
	// maxTreeDepth bounds recursion over a syntax tree that somebody else parsed: long chains of operators are deep, too.
	maxTreeDepth = 1000
)
