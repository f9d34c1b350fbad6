package trace

import (
	"io"
	"iter"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
)

// The resources that derived jobs use.
const (
	resourceCPU    = "cpu"
	resourceGPU    = "gpu"
	resourceMemory = "memory"
)

// openbJobs reads the pods of an openb trace as jobs.
func openbJobs(file string, in io.Reader, skip func(line int, name, reason string)) iter.Seq2[Job, error] {
	open := func() (rowReader, error) { return openTable(file, in, openbPodColumns) }
	return readRows(open, func(r *row) (Job, bool) {
		pod := readOpenbPod(r)
		if r.err != nil {
			return Job{}, false
		}
		if reason := pod.unusable(); reason != "" {
			skip(r.line, pod.Name, reason)
			return Job{}, false
		}
		job := pod.job()
		job.Line = r.line
		return job, true
	})
}

// unusable says why a pod makes no job; empty if it does.
func (p *openbPod) unusable() string {
	switch {
	case !p.Scheduled.Happened:
		return "was never scheduled"
	case !p.Deleted.Happened:
		return "was not deleted within the trace"
	case p.Deleted.At == p.Scheduled.At:
		return "was deleted when it was scheduled"
	case p.CPUMilli > loading.MaxThreads*1000, p.GPUs > loading.MaxThreads:
		return "requests more than the " + grouped(loading.MaxThreads) + " cores or GPUs that a job may have threads for"
	}
	return ""
}

// job derives a job from a usable pod, by the rule that [Openb] states.
func (p *openbPod) job() Job {
	job := Job{Name: p.Name, Arrival: p.Created, Neutral: p.Deleted.At - p.Scheduled.At, Start: p.Scheduled, End: p.Deleted}
	atGPU := 0.0
	if p.GPUs > 0 {
		atGPU = float64(p.GPUMilli) / wholeGPU
	}
	cores := float64(p.CPUMilli) / 1000
	threads := math.Ceil(cores)

	job.Demands = make([]ServiceDemand, 0, 2)
	if cores > 0 && atGPU < 1 {
		atCPU := (1 - atGPU) * cores / threads
		job.Demands = append(job.Demands, ServiceDemand{Resource: resourceCPU, Seconds: atCPU * job.Neutral, Threads: int(threads)})
	}
	if atGPU > 0 {
		job.Demands = append(job.Demands, ServiceDemand{Resource: resourceGPU, Seconds: atGPU * job.Neutral, Threads: p.GPUs})
	}
	if len(job.Demands) == 0 {
		job.Demands = append(job.Demands, ServiceDemand{Resource: resourceCPU, Threads: 1})
	}

	job.Requests = slices.DeleteFunc([]Request{
		{resourceCPU, cores},
		{resourceMemory, float64(p.MemoryMiB) * (1 << 20)},
		{resourceGPU, float64(p.GPUs) * atGPU},
	}, func(r Request) bool { return r.Amount == 0 })
	return job
}
