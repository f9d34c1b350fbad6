package trace

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzReadJobs feeds anything at all to the reader of our CSV.
func FuzzReadJobs(f *testing.F) {
	f.Add(csvHeader + "a,etl/filecomp,0.25,100,58,4,42,3.5,1e9,1,110.5,n\n,grep,1,,,,,,,,,\n\n")
	f.Add(Version + "\narrival,type,request.cpu,limit.cpu\n0,t,0.5,1.5\n1,t,,0.001\n2,t,,\n")
	f.Add("\ufeff" + Version + ",,\r\narrival,demand.cpu,x\r\n\"1\",2,\"a \"\"b\"\"\"\r\n")
	f.Add(string(gzipped(f, []byte(Version+"\ntype,arrival\nt,0\n"))))
	fuzz(f, CSV)
}

// FuzzReadSWF does so to the reader of the Standard Workload Format.
func FuzzReadSWF(f *testing.F) {
	f.Add("; Version: 2.2\n1 10   5 100  4 60.5 2048 8 200 4096 1 3 1 7 1 1 -1 -1\n")
	f.Add("2 10.5 -1 2 -1 -1 -1 16 -1 -1 1 -1 -1 -1 0 -1 -1 -1\n3\t20 0 50 2 70 0 -1 -1 1024 2 -1 -1 -1 0 -1 -1 -1\r\n")
	fuzz(f, SWF)
}

// FuzzReadOpenb does so to the one that makes jobs of openb pods.
func FuzzReadOpenb(f *testing.F) {
	f.Add(podHeader + "a,2500,1024,0,0,,BE,Succeeded,5,110,10\nb,4000,0,8,250,T4,LS,Pending,5,,\n")
	f.Add(podHeader + "idle,0,0,0,0,,LS,Succeeded,7,110,10\n")
	fuzz(f, Openb)
}

// fuzz checks that the reader does not panic, and that what it accepts keeps the
// rules and reads the same when written out.
func fuzz(f *testing.F, format Format) {
	f.Fuzz(func(t *testing.T, input string) {
		jobs, err := readJobs(input, Options{Format: format, AllowUnsorted: true})
		if err != nil && err.Error() == "" {
			t.Error("the error says nothing")
		}
		if len(jobs) == 0 {
			return
		}
		var columns Columns
		for i := range jobs {
			jobs[i].Line = i + 3 // after version and header
			columns.CPULimit = columns.CPULimit || jobs[i].CPULimit > 0
			for _, d := range jobs[i].Demands {
				columns.Demands = with(columns.Demands, d.Resource)
			}
			for _, r := range jobs[i].Requests {
				columns.Requests = with(columns.Requests, r.Resource)
			}
		}
		text, err := written(jobs, columns)
		if err != nil {
			t.Fatalf("jobs that were accepted cannot be written: %v", err)
		}
		again, err := readJobs(text, Options{AllowUnsorted: true})
		if err != nil {
			t.Fatalf("jobs that were accepted are refused: %v\n%s", err, text)
		}
		if diff := gocmp.Diff(jobs, again, inAnyOrder); diff != "" {
			t.Errorf("jobs change when written and read (-before +after):\n%s", diff)
		}
	})
}

// with adds a name to a list that lacks it.
func with(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// inAnyOrder compares demands and requests as sets: the order is the file's.
var inAnyOrder = gocmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.SortSlices(func(a, b ServiceDemand) int { return cmp.Compare(a.Resource, b.Resource) }),
	cmpopts.SortSlices(func(a, b Request) int { return cmp.Compare(a.Resource, b.Resource) }),
}
