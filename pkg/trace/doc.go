// Package trace reads and writes job traces: what was asked of a cluster, when,
// and what became of it.
//
// [Jobs] reads every [Format] as a sequence of [Job] records, one at a time, so
// that memory does not grow with the length of the trace:
//
//	for job, err := range trace.Jobs("week.csv.gz", file, trace.Options{}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(job.Name, job.Arrival, job.Demands)
//	}
//
// All times are seconds since the start of the trace. What a format does not
// hold is derived by a rule that stands with its [Format]: neither SWF nor openb
// measures how long a job was at a resource. [OpenbNodes] gives the nodes of an
// openb trace. [Writer] writes our own format.
//
// A sequence ends with the first error: a record that breaks a rule is never
// skipped and never handed out. Errors about the content are of type *[Error]
// and name the file, the line, the column, the value and the rule.
//
// Input is plain or gzip (distinguished by the first two bytes); archives and other
// compressions are refused by name. Lines end in LF or CRLF, a byte order mark and
// blank lines are skipped, and a line holds exactly one record of at most
// [MaxLineBytes]. The columns of a CSV are found by the names in the header row, in
// any order; unknown columns are ignored.
//
// The package never opens files and knows no profiles: what a [Job.Type] means
// is for the caller to find out.
package trace
