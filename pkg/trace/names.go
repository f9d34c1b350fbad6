package trace

import "strings"

// nameLines remembers on which line each name was seen first.
type nameLines map[string]int

func (n nameLines) check(r *row, column int) {
	name := r.cells[column]
	if line, seen := n[name]; seen {
		r.reject(column, "is already the name on line "+grouped(int64(line)))
		return
	}
	n[strings.Clone(name)] = r.line
}
