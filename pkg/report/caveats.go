package report

import (
	"fmt"

	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// CaveatLines describes the parts of pods' manifests that an answer does not take into account, one per line; for many, the last
// line gives the number of the rest.
func CaveatLines(caveats []node.Caveat) (lines []string) {
	const shown = 5
	for i, c := range caveats {
		if i == shown {
			return append(lines, "There are "+text.Counted(len(caveats)-shown, "more such remark")+"; -o json lists all.")
		}
		lines = append(lines, fmt.Sprintf("Not taken into account: %s %s.", c.Pod, c.What))
	}
	return lines
}
