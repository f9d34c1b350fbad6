package queueing

import (
	"cmp"
	"fmt"
	"strings"
)

// solvers are the ways to solve the model, by the names that users write.
var solvers = []struct {
	name   string
	solver Solver
}{
	{"auto", Auto},
	{"exact", Exact},
	{"linearizer", Linearizer},
	{"schweitzer", Schweitzer},
	{"first-order", FirstOrder},
}

// SolverNames returns the names of the solvers, the default first.
func SolverNames() []string {
	names := make([]string, len(solvers))
	for i, s := range solvers {
		names[i] = s.name
	}
	return names
}

// SolverNamed returns the solver of a name, the default for none. The error lists the
// names.
func SolverNamed(name string) (Solver, error) {
	for _, s := range solvers {
		if s.name == cmp.Or(name, solvers[0].name) {
			return s.solver, nil
		}
	}
	return 0, fmt.Errorf("solver: %q is not one of %s", name, strings.Join(SolverNames(), ", "))
}
