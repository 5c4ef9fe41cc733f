package expr

import "slices"

// Function is what there is to know of a function for its callers.
type Function struct {
	Name    string
	Alias   string   // the function that this is another name for, or ""
	Form    string   // how it is called: substr(text, from, length)
	Doc     string   // a sentence
	Example string   // a value that calls it and reads nothing, or "" where there is none
	Asks    bool     // it stands in conditions only, with a body that is asked for every member
	Takes   []string // what each argument must be, in words; the last may repeat
}

// Functions lists the functions of both languages, and the predicates of conditions, in order of their names.
func Functions() (out []Function) {
	for _, name := range slices.Concat(functionNames, predicateNames) {
		d := functionDocs[name]
		f := Function{Name: name, Form: name + "(" + d.form + ")", Doc: d.doc, Example: d.example, Asks: slices.Contains(predicateNames, name)}
		if alias := exprNames[name]; alias != "" {
			d = functionDocs[alias]
			f = Function{Name: name, Alias: alias, Form: name + "(" + d.form + ")", Doc: d.doc}
		}
		if known := functions[name]; known != nil {
			for _, p := range known.params {
				f.Takes = append(f.Takes, kindNames[p])
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Function) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return out
}

// predicateNames are the predicates that no function has the name of.
var predicateNames = []string{"all", "any", "count", "filter", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "map", "none", "reduce", "sortBy"}

type functionDoc struct{ form, doc, example string }

// functionDocs documents every function but aliases; a test says when one is missing.
var functionDocs = map[string]functionDoc{
	"abs": {"number", "The number without its sign.", `abs(-3)`}, "ceil": {"number", "The next whole number upwards.", `ceil(1.2)`},
	"floor": {"number", "The next whole number downwards.", `floor(1.8)`}, "round": {"number", "The nearest whole number; a half goes away from zero.", `round(2.5)`},
	"signum": {"number", "-1, 0 or 1, as the number is below, at or above zero.", `signum(-7)`}, "int": {"value", "The whole part of a number, or of a text that is one.", `int("12.7")`},
	"pow": {"base, exponent", "A power.", `pow(2, 10)`}, "max": {"number, …", "The largest of numbers, or of the numbers of lists.", `max(3, 7, 5)`},
	"min": {"number, …", "The smallest of numbers, or of the numbers of lists.", `min([3, 7, 5])`}, "sum": {"numbers", "The sum of a list of numbers. In a condition sum(list, #.x) adds what the body gives.", `sum([1, 2, 3])`},
	"mean": {"numbers", "The mean of a list of numbers, which must not be empty.", `mean([1, 2, 6])`}, "parseint": {"text, base", "The whole number that a text is in a base from 2 to 62.", `parseint("ff", 16)`},

	"lower": {"text", "The text in lower case.", `lower("ABC")`}, "upper": {"text", "The text in upper case.", `upper("abc")`}, "title": {"text", "The first letter of every word in upper case.", `title("hello world")`},
	"strrev": {"text", "The characters in reverse.", `strrev("abc")`}, "trimspace": {"text", "Without white space at both ends.", `trimspace("  a ")`}, "chomp": {"text", "Without line ends behind it.", `chomp("a\n")`},
	"trimprefix": {"text, prefix", "Without the prefix, where it has it.", `trimprefix("v1.2", "v")`}, "trimsuffix": {"text, suffix", "Without the suffix, where it has it.", `trimsuffix("a.go", ".go")`},
	"trim": {"text, characters", "Without any of the characters at both ends; without white space where none are given.", `trim("--a--", "-")`}, "startswith": {"text, prefix", "Whether the text begins so.", `startswith("v1.2", "v")`},
	"endswith": {"text, suffix", "Whether the text ends so.", `endswith("a.go", ".go")`}, "strcontains": {"text, part", "Whether the part stands anywhere in the text.", `strcontains("hello", "ell")`},
	"indexOf": {"text, part", "Where the part first stands, in bytes from 0, or -1.", `indexOf("hello", "l")`}, "lastIndexOf": {"text, part", "Where the part last stands, in bytes from 0, or -1.", `lastIndexOf("hello", "l")`},
	"split": {"separator, text", "The parts of a text.", `split(",", "a,b")`}, "join": {"separator, texts, …", "One text of a list of texts, or of several lists.", `join(", ", ["a", "b"])`},
	"replace": {"text, old, new", "Every occurrence replaced; an old text in slashes is a pattern.", `replace("a-b-c", "-", "+")`}, "substr": {"text, from, length", "A part of a text, in characters. A negative offset counts from the end, a length of -1 reaches to it.", `substr("hello", 1, 3)`},
	"repeat": {"text, times", "The text so many times.", `repeat("ab", 3)`}, "indent": {"blanks, text", "So many blanks before every line but the first.", `indent(2, "a\nb")`},
	"regex":    {"pattern, text", "What the pattern first matches: a text, or its groups as a list, or as an object where they have names. It fails where nothing matches.", `regex("[0-9]+", "room 12")`},
	"regexall": {"pattern, text", "All that the pattern matches, in order.", `regexall("[0-9]+", "1 and 2")`}, "format": {"form, value, …", "A text with values in the places of %s, %d, %f, %q, %v and their kin.", `format("%s: %03d", "a", 7)`},

	"length": {"value", "How many members a list or map has, or characters a text.", `length(["a", "b"])`}, "contains": {"list, value", "Whether the value is a member.", `contains(["a", "b"], "b")`},
	"index": {"list, value", "Where the value first stands, from 0. It fails where it does not.", `index(["a", "b"], "b")`}, "concat": {"list, …", "One list of several.", `concat([1], [2, 3])`},
	"distinct": {"list", "Each member once, in order of first occurrence.", `distinct(["a", "b", "a"])`}, "element": {"list, index", "The member at an index, which goes round at the end.", `element(["a", "b"], 3)`},
	"flatten": {"list", "Lists inside of lists as one list.", `flatten([[1], [2, [3]]])`}, "range": {"limit", "The numbers from 0 to below the limit; range(start, limit, step) gives others.", `range(3)`},
	"reverse": {"list", "The members in reverse.", `reverse([1, 2, 3])`}, "slice": {"list, from, to", "The members from an index to before another.", `slice(["a", "b", "c"], 1, 3)`},
	"sort": {"list, order", "The members in order; the order can be \"desc\".", `sort(["b", "a"])`}, "compact": {"list", "Without members that are null or empty texts.", `compact(["a", "", null])`},
	"one": {"list", "The only member, or null of an empty list. It fails where there are more.", `one(["a"])`}, "first": {"list", "The first member, or null.", `first([1, 2])`}, "last": {"list", "The last member, or null.", `last([1, 2])`},
	"take": {"list, number", "The first so many members.", `take([1, 2, 3], 2)`}, "chunklist": {"list, size", "Lists of at most so many members.", `chunklist([1, 2, 3], 2)`},
	"alltrue": {"list", "Whether every member is true.", `alltrue([true, false])`}, "anytrue": {"list", "Whether a member is true.", `anytrue([true, false])`},
	"setunion": {"set, …", "What is in any of the sets.", `setunion([1, 2], [2, 3])`}, "setintersection": {"set, …", "What is in all of the sets.", `setintersection([1, 2], [2, 3])`}, "setsubtract": {"set, other", "What is in the first set and not in the other.", `setsubtract([1, 2], [2, 3])`},

	"keys": {"map", "The keys, in order.", `keys({ b = 1, a = 2 })`}, "values": {"map", "The values, in order of their keys.", `values({ b = 1, a = 2 })`}, "lookup": {"map, key, default", "The value of a key, or the default where there is none.", `lookup({ a = 1 }, "b", 0)`},
	"merge": {"map, …", "One map of several; of equal keys the last wins.", `merge({ a = 1 }, { b = 2 })`}, "zipmap": {"keys, values", "A map of two lists of equal length.", `zipmap(["a", "b"], [1, 2])`},
	"coalesce": {"value, …", "The first that is neither null nor an empty text. It fails where there is none; try(x, \"\") gives an empty text.", `coalesce(null, "", "a")`}, "coalescelist": {"list, …", "The first list that has members.", `coalescelist([], [1])`},

	"argmax": {"map of numbers", "The key of the largest number; nulls are passed over. Of equal ones it is the first key in order, of none null.", `argmax({ a = 2, b = 5, c = null })`},
	"vote": {"votes, rule", "Counts votes, given by participant, into { decision, share, tied, tally, votes, abstained, cast }. A null abstains. The rule is { method, threshold, quorum, weights }: method is majority (more than half of the votes cast, or the threshold), unanimous, weighted (weights, of all weight) or score (votes are maps of options to numbers). decision is null where nothing is decided, or where fewer than the quorum voted, by default more than half; of votes that are bools it is whether true is decided.",
		`vote({ a = "x", b = "y", c = "x" }, { method = "majority" }).decision`},

	"tostring": {"value", "The value as text; lists and objects as JSON.", `tostring(12)`}, "tonumber": {"value", "The number that a text is.", `tonumber("12")`}, "tobool": {"value", "true or false of the text that says so.", `tobool("true")`},
	"tolist": {"value", "The members of a list, set or tuple as a list.", `tolist([1, 2])`}, "toset": {"value", "The members of a list, each once, in order.", `toset(["b", "a", "b"])`}, "tomap": {"value", "An object as a map.", `tomap({ a = 1 })`},
	"jsonencode": {"value", "The value as JSON.", `jsonencode({ a = [1, null] })`}, "jsondecode": {"text", "The value that a JSON text is, typed any.", `jsondecode("[1, 2]")`},
	"base64encode": {"text", "The text in base64.", `base64encode("hello")`}, "base64decode": {"text", "The text that base64 stands for.", `base64decode("aGVsbG8=")`},
	"md5": {"text", "A digest in hexadecimal, not safe against forgery.", `md5("a")`}, "sha1": {"text", "A digest in hexadecimal, not safe against forgery.", `sha1("a")`}, "sha256": {"text", "A digest in hexadecimal.", `substr(sha256("a"), 0, 8)`}, "sha512": {"text", "A digest in hexadecimal.", `substr(sha512("a"), 0, 8)`},

	"setproduct": {"list, list, …", "Every combination of a member of each list, as lists; the last list varies fastest. It is what a matrix needs.", `setproduct(["a", "b"], [1, 2])`},
	"matchkeys":  {"values, keys, wanted", "The values whose keys, at the same place of the second list, are wanted.", `matchkeys(["x", "y", "z"], ["a", "b", "a"], ["a"])`},
	"transpose":  {"map of lists", "The map from each text in the lists to the keys that it stands under.", `transpose({ a = ["x", "y"], b = ["x"] })`}, "formatlist": {"form, value, …", "A text as of format for each member of the lists among the values.", `formatlist("%s=%d", ["a", "b"], [1, 2])`},
	"urlencode": {"text", "The text as it can stand in a query of a URL.", `urlencode("a b&c")`}, "basename": {"path", "The last part of a path.", `basename("a/b.txt")`}, "dirname": {"path", "A path without its last part.", `dirname("a/b.txt")`},
	"csvdecode": {"text", "The rows of a table whose first line names the columns: a list of objects of texts.", `csvdecode("name,size\na,1")`}, "base64sha256": {"text", "A digest in base64.", `base64sha256("a")`}, "base64sha512": {"text", "A digest in base64.", `substr(base64sha512("a"), 0, 8)`},
	"timeadd": {"moment, duration", "The moment that is so much later, such as \"90m\" or \"-1h30m\"; moments are written as in RFC 3339.", `timeadd("2030-01-31T09:00:00Z", "36h")`}, "formatdate": {"form, moment", "A moment in another form: YYYY, MM, DD, hh, mm, ss, MMM, EEEE, Z and their kin; other letters stand in ' quotes.", `formatdate("DD MMM YYYY", "2030-01-31T09:00:00Z")`},

	"file": {"path", "The text of a file, by its path from the program's folder; it is read with the program, before anything runs.", ""},
	"try":  {"value, …", "The first that has a value: what fails or is null is passed over, names that do not exist are not.", `try(jsondecode("{"), "none")`}, "can": {"value", "Whether it has a value.", `can(tonumber("x"))`},

	"all": {"list, body", "Whether the body holds for every member; # is the member: all(list, # > 1).", ""}, "any": {"list, body", "Whether it holds for a member.", ""}, "none": {"list, body", "Whether it holds for no member.", ""},
	"count": {"list, body", "For how many members it holds.", ""}, "filter": {"list, body", "The members for which it holds.", ""}, "map": {"list, body", "What the body gives for each member.", ""},
	"find": {"list, body", "The first member for which it holds, or null.", ""}, "findIndex": {"list, body", "Its index, or null.", ""}, "findLast": {"list, body", "The last member for which it holds, or null.", ""}, "findLastIndex": {"list, body", "Its index, or null.", ""},
	"groupBy": {"list, body", "The members by what the body gives: a map of lists.", ""}, "sortBy": {"list, body, order", "The members in order of what the body gives; the order can be \"desc\".", ""}, "reduce": {"list, body, first", "One value: the body, with #acc for what it gave before, for each member in turn.", ""},
}
