package trace

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkReadJobs reads the same rows over and over as one long trace and
// reports jobs per second.
func BenchmarkReadJobs(b *testing.B) {
	pods := testdata(b, "openb_pod_list_first_2000.csv")
	end := bytes.IndexByte(pods, '\n') + 1
	const columns = Version + "\njob,type,arrival,neutral,demand.cpu,threads.cpu,demand.disk,request.cpu,request.memory,start,end,node\n"
	for _, c := range []struct {
		name           string
		format         Format
		header, repeat string
	}{
		{"csv", CSV, columns, "job-1234567,etl/filecomp,1234.567,78.08,45.2864,4,32.7936,3.5,1073741824,1234.6,1345.1,worker-3\n"},
		{"csv of types", CSV, Version + "\narrival,type\n", "1234.567,etl/filecomp\n"},
		{"swf", SWF, "; Version: 2.2\n", "17 7711615 35 1600 64 1590.5 2048 64 3600 -1 1 12 3 7 1 1 -1 -1\n"},
		{"openb", Openb, string(pods[:end]), string(pods[end:])},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := io.MultiReader(bytes.NewReader([]byte(c.header)), &repeat{rows: []byte(c.repeat)})
			b.ReportAllocs()
			var read int
			for _, err := range Jobs("trace", in, Options{Format: c.format, AllowUnsorted: true}) {
				if err != nil {
					b.Fatal(err)
				}
				read++
				if !b.Loop() {
					break
				}
			}
			b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
