package args

import (
	"fmt"

	"github.com/flowrun/flowrun/dsl/lazyregexp"
)

// maxEnvironment is the size of the name of an environment in bytes.
const maxEnvironment = 64

var environmentName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// IsEnvironment refuses what cannot be the name of an environment. "" is none.
func IsEnvironment(name string) error {
	if name == "" || len(name) <= maxEnvironment && environmentName().MatchString(name) {
		return nil
	}
	return &Error{fmt.Sprintf("the environment cannot be named %q", name), "A name has letters, digits, _ and -, and begins with a letter or a digit."}
}
