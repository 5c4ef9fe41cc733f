package args

// Serve is what serve takes.
type Serve struct {
	Paths     []string // programs to register
	Vars      Pairs
	VarFiles  []string
	Listen    string // an address, or off
	Hosts     []string
	NoToken   bool
	Once      bool
	PrintUnit bool
	Drive
}
