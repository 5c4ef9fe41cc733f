// Package expr is the one room that knows both expression languages: values, which are HCL expressions, and
// conditions, which are expr-lang in a literal string.
//
// Only the two parsers are borrowed. Both syntax trees are lowered to one small tree of our own (node.go), which one
// checker types and one evaluator computes with one table of functions. So a name, an operator or a function means the
// same in both languages, null reads through in both, and every evaluation is bounded in steps and bytes, which the
// libraries' own evaluators are not.
//
// Enter at [Value], [Condition] and [Type], which check what stands in a file against an [Env] and make it IR, and at
// [NewEvaluator], which computes the IR in a run, from its text alone.
//
// What always holds:
//   - If an expression passes the check, every name in it resolves at run time; what is null or of type any may still
//     fail there, with an error that names it.
//   - An evaluation asks its scope for the names in Reads and no others, so its cost does not depend on how much a
//     workflow declares.
//   - Equal text and equal scope give equal results: no clock, no randomness, no environment, no files, and no map
//     is walked in an order that can be seen.
//   - Nothing is parsed before its length and nesting are known to be within bounds (limits.go).
//
// The package imports dsl/value, dsl/diag, dsl/ir, the parsers of hcl and expr-lang, and the standard library's pure
// packages. It must never import a package that reaches the world (os, net, time, math/rand) or any other part of
// flowrun.
package expr
