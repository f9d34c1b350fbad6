// Package trace reads job traces: what was asked of a cluster, when, and what
// became of it.
//
// A trace is read as a sequence, one record at a time, so that memory does not
// grow with the length of the trace. Each format has its own record types and
// its own functions, named after the format:
//
//	for pod, err := range trace.OpenbPods("pods.csv.gz", file, trace.OpenbPodOptions{}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(pod.Name, pod.Created, pod.CPUMilli)
//	}
//
// A sequence ends with the first error: a record that breaks a rule is never
// skipped and never handed out. Errors about the content are of type *[Error]
// and name the file, the line, the column, the value and the rule.
//
// Input is plain or gzip (told apart by the first two bytes). Lines end in LF
// or CRLF, a byte order mark and blank lines are skipped, and a line holds
// exactly one record of at most [MaxLineBytes]. Columns are found by the names
// in the header row, in any order; unknown columns are ignored.
//
// The package never opens files and never interprets a trace: loading vectors
// and service demands, which none of these formats has, are derived elsewhere.
package trace
