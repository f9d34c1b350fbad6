package main

import (
	"fmt"
	"strings"
)

// The table stands between these lines.
const (
	tableBegin = "<!-- From values.yaml, by make generate. -->\n"
	tableEnd   = "<!-- End of what is generated. -->\n"
)

// insertTable puts the table of values into a text in the place of the one there.
func insertTable(readme []byte, values []value) ([]byte, error) {
	before, rest, begins := strings.Cut(string(readme), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return nil, fmt.Errorf("want the lines %q and %q, with the table between them", tableBegin, tableEnd)
	}
	var table strings.Builder
	table.WriteString("| value | default | meaning |\n|---|---|---|\n")
	writeRows(&table, values)
	return []byte(before + tableBegin + table.String() + tableEnd + after), nil
}

func writeRows(table *strings.Builder, values []value) {
	escape := strings.NewReplacer("|", `\|`)
	for _, v := range values {
		if v.parts != nil {
			writeRows(table, v.parts)
			continue
		}
		fmt.Fprintf(table, "| `%s` | `%s` | %s |\n", v, escape.Replace(v.fallback), escape.Replace(v.description))
	}
}
