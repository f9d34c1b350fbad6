package invariant

import (
	"fmt"
	"strings"
)

// Panics returns the lines of a program's log that say that it panicked, or that its threads raced for memory.
func Panics(program, log string) (found []string) {
	for line := range strings.Lines(log) {
		for _, sign := range []string{"panic: ", "Observed a panic", "fatal error: ", "DATA RACE", "[recovered]"} {
			if strings.Contains(line, sign) {
				found = append(found, fmt.Sprintf("%s: %s", program, strings.TrimSpace(line)))
				break
			}
		}
	}
	return found
}
