// Package text writes numbers with their units, tables in aligned columns, manifests and
// sentences, as plain text for terminals, charts, pages and files:
//
//	t := text.NewTable(text.Left("JOB"), text.Right("DILATION"))
//	t.Add("filecomp", text.Times(1.42))
//	err := t.Write(os.Stdout)
//
// It knows nothing of what the numbers and names are, and so it trusts no name: what came
// from outside cannot break a line, move a cursor or begin another document. [Printable]
// makes one value printable, which tables, comments and encoders do by themselves;
// [Writer] is what the streams of a command are behind.
package text
