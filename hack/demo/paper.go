package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// paperJob is a row of Table 3 of the D-factor paper.
type paperJob struct {
	name  string
	start float64 // seconds
	placement.Job
}

// paperJobs are the four jobs.
func paperJobs() []paperJob {
	cpu := &mix.JobType{Name: "CPU-bound", Vector: loading.Loadings(1, 0)}
	disk := &mix.JobType{Name: "disk-bound", Vector: loading.Loadings(0, 1)}
	return []paperJob{
		{"W1", 0, placement.Job{Type: cpu, Neutral: 110.56}},
		{"W2", 0, placement.Job{Type: disk, Neutral: 115.83}},
		{"W3", 0, placement.Job{Type: cpu, Neutral: 180.00}},
		{"W4", 60, placement.Job{Type: cpu, Neutral: 110.56}},
	}
}

// paper works the example of the D-factor paper (Table 3, Fig. 8): three jobs
// run on two machines, each with one CPU and one disk, when a fourth arrives.
func paper(out string) error {
	jobs := paperJobs()
	fmt.Print(`1. The example of the D-factor paper (Table 3, Fig. 8)

Four jobs on two machines with one CPU and one disk each. W1, W3 and W4 use only
the CPU, W2 only the disk. W1 and W2 run on machine 1 and W3 on machine 2 when W4
arrives, after 60 s. The list scheduler adds up the times of the jobs, as if a
machine had one resource; Loadline looks at p'·p̄, what W4 shares with the others.

`)
	table := text.NewTable(text.Left("SCHEDULER"), text.Left("MACHINE 1"), text.Left("MACHINE 2"), text.Right("MAKESPAN"))
	timeline := chart.Timeline{Title: "Four jobs on two machines: by list scheduler, and by p'·p̄"}
	for _, by := range []struct {
		name   string
		policy placement.Policy
	}{{"list scheduler", placement.List{}}, {"Loadline, min p'·p̄", placement.LeastDilation{}}} {
		schedule, machines, err := scheduleW4(jobs, by.policy)
		if err != nil {
			return err
		}
		schedule.Name = by.name
		timeline.Schedules = append(timeline.Schedules, schedule)
		table.Add(by.name, machines[0], machines[1], text.Seconds(schedule.MakespanSeconds(), 2))
	}
	if err := table.Write(os.Stdout); err != nil {
		return err
	}
	list, loadline := timeline.Schedules[0].MakespanSeconds(), timeline.Schedules[1].MakespanSeconds()
	fmt.Printf("\nBy the model, p'·p̄ ends %s earlier. For W4 both machines have the same p'·p̄ = 1,\nand as in the paper the first of them is taken.\n", text.Percent(1-loadline/list))
	return writeCharts(timeline, filepath.Join(out, "paper-fig8"))
}

// scheduleW4 places the last job by a policy, beside the others as the paper
// has them, and returns who runs where and when. The paper's list scheduler adds
// up whole neutral times, not what is left of them after 60 s: the machine is
// chosen as of second 0.
func scheduleW4(jobs []paperJob, policy placement.Policy) (chart.Schedule, [2]string, error) {
	var schedule chart.Schedule
	var machines [2]string
	class := mix.NodeClass{Servers: []int{1, 1}}
	on := [2][]paperJob{{jobs[0], jobs[1]}, {jobs[2]}}
	var nodes []*placement.NodeState
	for m := range on {
		node, err := placement.NewNodeState(class, queueing.Options{Solver: queueing.FirstOrder})
		if err != nil {
			return schedule, machines, err
		}
		for i := range on[m] {
			node.Start(0, &on[m][i].Job, i, nil)
		}
		nodes = append(nodes, node)
	}
	chosen := policy.Choose(0, &jobs[3].Job, nodes)
	on[chosen] = append(on[chosen], jobs[3])

	for m := range on {
		runs := make([]mix.Run, len(on[m]))
		for i, j := range on[m] {
			runs[i] = mix.Run{Start: j.start, Neutral: j.Neutral, Vector: j.Type.Vector}
		}
		ends, err := mix.Completions(runs, class.Servers)
		if err != nil {
			return schedule, machines, err
		}
		var names []string
		for i, j := range on[m] {
			names = append(names, fmt.Sprintf("%s (ends %s)", j.name, text.Seconds(ends[i], 2)))
			schedule.Bars = append(schedule.Bars, chart.Bar{
				Machine: fmt.Sprintf("machine %d", m+1), Job: j.name, StartSeconds: j.start, EndSeconds: ends[i],
			})
		}
		machines[m] = strings.Join(names, ", ")
	}
	return schedule, machines, nil
}

// writeCharts writes a chart in both formats and says where.
func writeCharts(c chart.Chart, path string) error {
	for _, extension := range []string{".svg", ".png"} {
		if err := chart.WriteFile(path+extension, c); err != nil {
			return err
		}
	}
	fmt.Printf("Chart: %s.svg and .png\n", path)
	return nil
}
