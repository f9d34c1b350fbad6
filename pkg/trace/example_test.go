package trace_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"loadline.dev/loadline/pkg/trace"
)

func ExampleJobs() {
	const week = `#loadline-trace/v1
job,type,arrival,neutral,demand.cpu,threads.cpu,demand.disk
backup-1,etl/backup,0,100,58,4,42
backup-2,etl/backup,17.5,,,,
`
	for job, err := range trace.Jobs("week.csv", strings.NewReader(week), trace.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job.Name, job.Arrival, job.Demands)
	}
	// Output:
	// backup-1 0 [{cpu 58 4} {disk 42 1}]
	// backup-2 17.5 []
}

func ExampleWriter() {
	w, err := trace.NewWriter(os.Stdout, trace.Columns{Demands: []string{"cpu"}, Requests: []string{"memory"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Write(trace.Job{
		Name: "sort", Arrival: 0.25, Neutral: 10,
		Demands:  []trace.ServiceDemand{{Resource: "cpu", Seconds: 8, Threads: 2}},
		Requests: []trace.Request{{Resource: "memory", Amount: 1 << 30}},
		Start:    trace.Moment{At: 1, Happened: true},
	})
	if err := errors.Join(err, w.Flush()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// #loadline-trace/v1
	// job,type,arrival,neutral,start,end,node,demand.cpu,threads.cpu,request.memory
	// sort,,0.25,10,1,,,8,2,1073741824
}
