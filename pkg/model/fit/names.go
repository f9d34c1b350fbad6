package fit

import "regexp"

// lastNumber is the last number of a name, such as a batch size.
var lastNumber = regexp.MustCompile(`\d+(\D*)$`)

// familiesOf returns the families of jobs by their names. Names that differ in their
// last number only, as "LM (batch size 10)" and "LM (batch size 20)", are of one.
func familiesOf(jobs []string) []string {
	families := make([]string, len(jobs))
	for j, name := range jobs {
		families[j] = lastNumber.ReplaceAllString(name, "\x00$1")
	}
	return families
}
