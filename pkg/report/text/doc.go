// Package text writes numbers with their units, and tables in aligned columns, as
// plain text for terminals, charts and pages:
//
//	t := text.NewTable(text.Left("JOB"), text.Right("DILATION"))
//	t.Add("filecomp", text.Times(1.42))
//	err := t.Write(os.Stdout)
//
// It knows nothing of what the numbers are.
package text
