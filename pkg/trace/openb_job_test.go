package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJobsAreDerivedFromOpenb(t *testing.T) {
	t.Parallel()
	const text = podHeader +
		"cores,1500,1024,0,0,,BE,Succeeded,5,110,10\n" +
		"part,4000,0,1,250,T4,LS,Succeeded,5,110,10\n" +
		"whole,4000,0,8,1000,,LS,Succeeded,6,110,10\n" +
		"idle,0,0,0,0,,LS,Succeeded,7,110,10\n"
	want := []Job{
		{
			Line: 2, Name: "cores", Arrival: 5, Neutral: 100, Start: at(10), End: at(110),
			Demands: []ServiceDemand{{"cpu", 75, 2}}, Requests: []Request{{"cpu", 1.5}, {"memory", 1 << 30}},
		},
		{
			Line: 3, Name: "part", Arrival: 5, Neutral: 100, Start: at(10), End: at(110),
			Demands: []ServiceDemand{{"cpu", 75, 4}, {"gpu", 25, 1}}, Requests: []Request{{"cpu", 4}, {"gpu", 0.25}},
		},
		{
			Line: 4, Name: "whole", Arrival: 6, Neutral: 100, Start: at(10), End: at(110),
			Demands: []ServiceDemand{{"gpu", 100, 8}}, Requests: []Request{{"cpu", 4}, {"gpu", 8}},
		},
		{
			Line: 5, Name: "idle", Arrival: 7, Neutral: 100, Start: at(10), End: at(110),
			Demands: []ServiceDemand{{"cpu", 0, 1}}, Requests: []Request{},
		},
	}
	got, err := readJobs(text, Options{Format: Openb})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, jobs differ (-want +got):\n%s", err, diff)
	}
}

func TestOpenbPodsThatMakeNoJobAreSkippedWithTheReason(t *testing.T) {
	t.Parallel()
	const text = podHeader +
		"a,1,1,0,0,,LS,Pending,5,,\n" +
		"b,1,1,0,0,,LS,Running,5,,6\n" +
		"c,1,1,0,0,,LS,Failed,5,6,6\n" +
		"d,16384001,1,0,0,,LS,Failed,5,7,6\n"
	want := skips{
		"line 2: a was never scheduled",
		"line 3: b was not deleted within the trace",
		"line 4: c was deleted when it was scheduled",
		"line 5: d requests more than the 16,384 cores or GPUs that a job may have threads for",
	}
	var got skips
	_, err := readJobs(text, Options{Format: Openb, Skipped: got.add})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("skipped differ (-want +got):\n%s", diff)
	}
	if err == nil || err.Error() != "trace: none of its 4 jobs can be used: all were skipped" {
		t.Errorf("error = %v, want one that says that nothing is left", err)
	}
}

func TestBadOpenbJobsAreReportedByTheirOwnColumns(t *testing.T) {
	t.Parallel()
	const good = "a,1,1,0,0,,LS,Succeeded,5,7,6\n"
	refuse(t, Openb, map[string]badTrace{
		"unsorted": {
			podHeader + good + "b,1,1,0,0,,LS,Succeeded,4,7,6\n",
			`trace, line 3: creation_time "4": is before the previous arrival, 5; sort the trace, or pass --sort`,
		},
		"a bad cell": {podHeader + "a,1,1,0,0,,LS,Succeeded,x,7,6\n", `trace, line 2: creation_time "x": must be a whole number from 0 to 9,223,372,036`},
		"no text":    {podHeader + "\xff,1,1,0,0,,LS,Succeeded,5,7,6\n", "trace, line 2: name \"\\xff\": " + notPrintable},
		"the other format": {
			"; Version: 2.2\n",
			"trace, line 1: the header lacks the columns name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase, " +
				"creation_time, deletion_time, scheduled_time; it must have name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, " +
				"pod_phase, creation_time, deletion_time, scheduled_time; this looks like a trace in the format swf: pass --format swf",
		},
	})
}

func TestTheRealPodsBecomeJobs(t *testing.T) {
	t.Parallel()
	var left skips
	jobs, err := readJobs(string(testdata(t, "openb_pod_list_first_2000.csv")), Options{Format: Openb, Skipped: left.add})
	if err != nil {
		t.Fatal(err)
	}
	neutral := 0.0
	for _, job := range jobs {
		neutral += job.Neutral
	}
	// Counted with awk in the original file.
	if len(jobs) != 1842 || len(left) != 2000-1842 || neutral != 175_584_645 {
		t.Errorf("got %d jobs of %.0f s and %d skipped, want 1842, 175584645 s, 158", len(jobs), neutral, len(left))
	}
}
