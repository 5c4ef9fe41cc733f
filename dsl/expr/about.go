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
	"abs": {"number", "The number without its sign.", `abs(-3)`}, "ceil": {"number", "The number rounded up.", `ceil(1.2)`},
	"floor": {"number", "The number rounded down.", `floor(1.8)`}, "round": {"number", "The number rounded to the nearest whole number; halves are rounded away from zero.", `round(2.5)`},
	"signum": {"number", "-1, 0 or 1 for a number below, equal to or above zero.", `signum(-7)`}, "int": {"value", "The integer part of a number, or of a text with a number.", `int("12.7")`},
	"pow": {"base, exponent", "A power.", `pow(2, 10)`}, "max": {"number, …", "The largest of numbers, or of the numbers of lists.", `max(3, 7, 5)`},
	"min": {"number, …", "The smallest of numbers, or of the numbers of lists.", `min([3, 7, 5])`}, "sum": {"numbers", "The sum of a list of numbers. In a condition, sum(list, #.x) adds the results of the body.", `sum([1, 2, 3])`},
	"mean": {"numbers", "The mean of a list of numbers, which must not be empty.", `mean([1, 2, 6])`}, "parseint": {"text, base", "The whole number that the text represents in a base from 2 to 62.", `parseint("ff", 16)`},

	"lower": {"text", "The text in lower case.", `lower("ABC")`}, "upper": {"text", "The text in upper case.", `upper("abc")`}, "title": {"text", "The first letter of every word in upper case.", `title("hello world")`},
	"strrev": {"text", "The characters in reverse.", `strrev("abc")`}, "trimspace": {"text", "The text without white space at both ends.", `trimspace("  a ")`}, "chomp": {"text", "The text without trailing line ends.", `chomp("a\n")`},
	"trimprefix": {"text, prefix", "The text without the prefix.", `trimprefix("v1.2", "v")`}, "trimsuffix": {"text, suffix", "The text without the suffix.", `trimsuffix("a.go", ".go")`},
	"trim": {"text, characters", "The text without the given characters at both ends; by default without white space.", `trim("--a--", "-")`}, "startswith": {"text, prefix", "Whether the text begins with the prefix.", `startswith("v1.2", "v")`},
	"endswith": {"text, suffix", "Whether the text ends with the suffix.", `endswith("a.go", ".go")`}, "strcontains": {"text, part", "Whether the text contains the part.", `strcontains("hello", "ell")`},
	"indexOf": {"text, part", "Position of the first occurrence of the part, in bytes from 0, or -1.", `indexOf("hello", "l")`}, "lastIndexOf": {"text, part", "Position of the last occurrence of the part, in bytes from 0, or -1.", `lastIndexOf("hello", "l")`},
	"split": {"separator, text", "The parts of a text.", `split(",", "a,b")`}, "join": {"separator, texts, …", "The texts of one or several lists, joined with the separator.", `join(", ", ["a", "b"])`},
	"replace": {"text, old, new", "The text with every occurrence replaced. An old text in slashes is a regular expression.", `replace("a-b-c", "-", "+")`}, "substr": {"text, from, length", "A part of a text, in characters. A negative offset counts from the end; a length of -1 means up to the end.", `substr("hello", 1, 3)`},
	"repeat": {"text, times", "The text, repeated the given number of times.", `repeat("ab", 3)`}, "indent": {"blanks, text", "The text with the given number of blanks before every line except the first.", `indent(2, "a\nb")`},
	"regex":    {"pattern, text", "The first match of the pattern: a text, or its groups as a list, or as an object if they have names. Fails if nothing matches.", `regex("[0-9]+", "room 12")`},
	"regexall": {"pattern, text", "All matches of the pattern, in order.", `regexall("[0-9]+", "1 and 2")`}, "format": {"form, value, …", "The text with values inserted for %s, %d, %f, %q, %v and similar verbs.", `format("%s: %03d", "a", 7)`},

	"length": {"value", "The number of members of a list or map, or of characters of a text.", `length(["a", "b"])`}, "contains": {"list, value", "Whether the value is a member.", `contains(["a", "b"], "b")`},
	"index": {"list, value", "Position of the first occurrence of the value, from 0. Fails if the list does not contain it.", `index(["a", "b"], "b")`}, "concat": {"list, …", "One list of several.", `concat([1], [2, 3])`},
	"distinct": {"list", "The list without duplicates, in order of first occurrence.", `distinct(["a", "b", "a"])`}, "element": {"list, index", "The member at an index; the index wraps around at the end.", `element(["a", "b"], 3)`},
	"flatten": {"list", "Nested lists as one flat list.", `flatten([[1], [2, [3]]])`}, "range": {"limit", "The numbers from 0 up to, but not including, the limit; also range(start, limit, step).", `range(3)`},
	"reverse": {"list", "The members in reverse.", `reverse([1, 2, 3])`}, "slice": {"list, from, to", "The members from the first index up to, but not including, the second.", `slice(["a", "b", "c"], 1, 3)`},
	"sort": {"list, order", "The members in order; the order can be \"desc\".", `sort(["b", "a"])`}, "compact": {"list", "The list without nulls and empty texts.", `compact(["a", "", null])`},
	"one": {"list", "The only member, or null for an empty list. Fails if there are more.", `one(["a"])`}, "first": {"list", "The first member, or null.", `first([1, 2])`}, "last": {"list", "The last member, or null.", `last([1, 2])`},
	"take": {"list, number", "The given number of first members.", `take([1, 2, 3], 2)`}, "chunklist": {"list, size", "The list, split into lists of at most the given size.", `chunklist([1, 2, 3], 2)`},
	"alltrue": {"list", "Whether every member is true.", `alltrue([true, false])`}, "anytrue": {"list", "Whether at least one member is true.", `anytrue([true, false])`},
	"setunion": {"set, …", "The members of any of the sets.", `setunion([1, 2], [2, 3])`}, "setintersection": {"set, …", "The members that are in all sets.", `setintersection([1, 2], [2, 3])`}, "setsubtract": {"set, other", "The members of the first set that are not in the second.", `setsubtract([1, 2], [2, 3])`},

	"keys": {"map", "The keys, in order.", `keys({ b = 1, a = 2 })`}, "values": {"map", "The values, in order of their keys.", `values({ b = 1, a = 2 })`}, "lookup": {"map, key, default", "The value of a key, or the default if the key is missing.", `lookup({ a = 1 }, "b", 0)`},
	"merge": {"map, …", "Several maps combined; for equal keys, the last one wins.", `merge({ a = 1 }, { b = 2 })`}, "zipmap": {"keys, values", "A map from two lists of equal length: keys and values.", `zipmap(["a", "b"], [1, 2])`},
	"coalesce": {"value, …", "The first argument that is neither null nor an empty text. Fails if there is none; try(x, \"\") returns an empty text.", `coalesce(null, "", "a")`}, "coalescelist": {"list, …", "The first list that is not empty.", `coalescelist([], [1])`},

	"argmax": {"map of numbers", "The key of the largest number; nulls are ignored. For equal numbers, the first key in order; null for an empty map.", `argmax({ a = 2, b = 5, c = null })`},
	"vote": {"votes, rule", "Counts votes, given by participant, into { decision, share, tied, tally, votes, abstained, cast }. A null abstains. The rule is { method, threshold, quorum, weights }: method is majority (more than half of the votes cast, or the threshold), unanimous, weighted (weights, of all weight) or score (votes are maps of options to numbers). decision is null if the votes decide nothing, or if fewer than the quorum voted, by default more than half. For bool votes, decision is true if enough votes are true.",
		`vote({ a = "x", b = "y", c = "x" }, { method = "majority" }).decision`},

	"tostring": {"value", "The value as text; lists and objects as JSON.", `tostring(12)`}, "tonumber": {"value", "The number that the text represents.", `tonumber("12")`}, "tobool": {"value", "true or false, from a bool or its text.", `tobool("true")`},
	"tolist": {"value", "The members of a list, set or tuple as a list.", `tolist([1, 2])`}, "toset": {"value", "The members of a list, each once, in order.", `toset(["b", "a", "b"])`}, "tomap": {"value", "An object as a map.", `tomap({ a = 1 })`},
	"jsonencode": {"value", "The value as JSON.", `jsonencode({ a = [1, null] })`}, "jsondecode": {"text", "The value of a JSON text, with the type any.", `jsondecode("[1, 2]")`},
	"yamlencode":   {"value", "The value as YAML, with its keys in order and its texts in quotes, or as a literal block where they have several lines.", `yamlencode({ b = ["x", 1], a = true })`},
	"yamldecode":   {"text", "The value of a YAML text with one document of at most 256 KiB, with the type any. Plain yes, no, on and off are bools, as in Terraform; dates remain text. Keys must be texts.", `yamldecode("a: [1, yes]")`},
	"base64encode": {"text", "The text in base64.", `base64encode("hello")`}, "base64decode": {"text", "The text that is encoded in base64.", `base64decode("aGVsbG8=")`},
	"md5": {"text", "A digest in hexadecimal, not safe against forgery.", `md5("a")`}, "sha1": {"text", "A digest in hexadecimal, not safe against forgery.", `sha1("a")`}, "sha256": {"text", "A digest in hexadecimal.", `substr(sha256("a"), 0, 8)`}, "sha512": {"text", "A digest in hexadecimal.", `substr(sha512("a"), 0, 8)`},

	"setproduct": {"list, list, …", "Every combination of a member of each list, as lists; the last list varies fastest. It is what a matrix needs.", `setproduct(["a", "b"], [1, 2])`},
	"matchkeys":  {"values, keys, wanted", "The values whose keys (at the same position of the second list) are in the third list.", `matchkeys(["x", "y", "z"], ["a", "b", "a"], ["a"])`},
	"transpose":  {"map of lists", "A map from each text in the lists to its keys.", `transpose({ a = ["x", "y"], b = ["x"] })`}, "formatlist": {"form, value, …", "The result of format for each member of the lists among the values.", `formatlist("%s=%d", ["a", "b"], [1, 2])`},
	"urlencode": {"text", "The text, encoded for the query of a URL.", `urlencode("a b&c")`}, "basename": {"path", "The last part of a path.", `basename("a/b.txt")`}, "dirname": {"path", "A path without its last part.", `dirname("a/b.txt")`},
	"csvdecode": {"text", "The rows of a CSV table, as a list of objects of texts. The first line has the names of the columns.", `csvdecode("name,size\na,1")`}, "base64sha256": {"text", "A digest in base64.", `base64sha256("a")`}, "base64sha512": {"text", "A digest in base64.", `substr(base64sha512("a"), 0, 8)`},
	"timeadd": {"moment, duration", "The time plus a duration such as \"90m\" or \"-1h30m\". Times are in RFC 3339.", `timeadd("2030-01-31T09:00:00Z", "36h")`}, "formatdate": {"form, moment", "The time in another format: YYYY, MM, DD, hh, mm, ss, MMM, EEEE, Z and so on; other letters need ' quotes.", `formatdate("DD MMM YYYY", "2030-01-31T09:00:00Z")`},

	"file": {"path", "The text of a file, by its path relative to the program's folder. flowrun reads it with the program, before the run.", ""},
	"try":  {"value, …", "The first argument that evaluates to a value other than null. Errors are skipped; unknown names are still errors.", `try(jsondecode("{"), "none")`}, "can": {"value", "Whether the expression evaluates to a value other than null.", `can(tonumber("x"))`},

	"all": {"list, body", "Whether the body is true for every member; # is the member: all(list, # > 1).", ""}, "any": {"list, body", "Whether the body is true for at least one member.", ""}, "none": {"list, body", "Whether the body is false for every member.", ""},
	"count": {"list, body", "The number of members for which the body is true.", ""}, "filter": {"list, body", "The members for which the body is true.", ""}, "map": {"list, body", "The results of the body for each member.", ""},
	"find": {"list, body", "The first member for which the body is true, or null.", ""}, "findIndex": {"list, body", "Its index, or null.", ""}, "findLast": {"list, body", "The last member for which the body is true, or null.", ""}, "findLastIndex": {"list, body", "Its index, or null.", ""},
	"groupBy": {"list, body", "The members grouped by the result of the body: a map of lists.", ""}, "sortBy": {"list, body, order", "The members sorted by the result of the body; the order can be \"desc\".", ""}, "reduce": {"list, body, first", "One value: the body is evaluated for each member in turn, with its previous result as #acc.", ""},
}
