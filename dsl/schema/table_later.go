package schema

import "strings"

// Planned is something that belongs to the language and that this release does not carry out: a kind of block, an attribute, a
// word that an attribute takes, or a name that expressions can read. Using it is an error, and wherever the language is
// described it is marked.
type Planned struct {
	Block   string // the kind; with Attr, the kind of the block that has it, "" where several have it
	Attr    string
	Word    string // of Attr
	Name    string // what an expression can read
	Doc     string // what it is for, in a sentence
	Instead string // what to write today, in sentences
	Never   bool   // it is in no plan: what stands in Instead is as short
}

// planned is all of it. What lands loses its row, and is described with the rest of the language instead.
var planned = []Planned{
	{Block: "library", Doc: "Workflows from elsewhere.", Instead: "Keep a copy of their files in the folder of the program."},
	{Block: "delegate", Doc: "A conductor chooses the agent that does the work.", Never: true,
		Instead: "Choose the agent with an expression:  agent = pool.NAME[step.CONDUCTOR.output.who]  gives the task to the member that the conductor names. For a list of subtasks, add  for_each = step.CONDUCTOR.output.tasks  and write  agent = pool.NAME[each.value.who]. For rules, use a switch, or a step  value = CONDITION ? \"A\" : \"B\"  that returns the name."},

	{Block: "flowrun", Attr: "store", Doc: "Where runs are kept.", Instead: "The flag --store PATH, or the environment variable FLOWRUN_STORE."},
	{Block: "agent", Attr: "prompt", Doc: "Instructions for a chat agent before its tasks.", Instead: "soul  is put before each task of the agent."},
	{Block: "gate", Attr: "retry", Doc: "How often a gate that fails is asked again.", Instead: "on_fail = \"retry\"  makes another attempt of the step; retry of the step says how many."},
	{Block: "output", Attr: "sensitive", Doc: "Keeps an output out of logs and screen.", Instead: "Outputs are stored, so an output cannot be sensitive. Read the variable where it is needed."},
}

// AllPlanned is the table: what belongs to the language and is not carried out yet.
func AllPlanned() []Planned { return planned }

// String is the thing as a file has it: a block, BLOCK.ATTR, ATTR = "WORD", or a name.
func (p *Planned) String() string {
	switch {
	case p.Word != "":
		return p.Attr + ` = "` + p.Word + `"`
	case p.Name != "":
		return p.Name
	case p.Attr != "" && p.Block != "":
		return p.Block + "." + p.Attr
	}
	return p.Block + p.Attr
}

// PlannedWord is the row of a word that an attribute will take, or nil.
func PlannedWord(block, attr, word string) *Planned { return findPlanned(block, attr, word) }

func findPlanned(block, attr, word string) *Planned {
	for i := range planned {
		if p := &planned[i]; p.Block == block && p.Attr == attr && p.Word == word && p.Name == "" {
			return p
		}
	}
	return nil
}

// later makes the attributes of rows: "ATTR" of several blocks, "BLOCK.ATTR" of one.
func later(names ...string) (out []Attr) {
	for _, n := range names {
		block, attr := "", n
		if dot := strings.LastIndexByte(n, '.'); dot >= 0 {
			block, attr = n[:dot], n[dot+1:]
		}
		p := findPlanned(block, attr, "")
		out = append(out, Attr{Name: attr, Doc: p.Doc, Later: p})
	}
	return out
}

// laterBlocks are the blocks of the table.
func laterBlocks() map[string]*Block {
	out := map[string]*Block{}
	for i := range planned {
		if p := &planned[i]; p.Block != "" && p.Attr == "" && p.Name == "" {
			out[p.Block] = &Block{Doc: p.Doc, Later: p}
		}
	}
	return out
}
