package result

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the standard jobs.
const (
	CPU             = "cpu"              // integer arithmetic, about 0.2 ms a unit
	DiskRead        = "disk-read"        // reads 1 MiB a unit, past the page cache
	DiskWrite       = "disk-write"       // writes 1 MiB a unit and has it stored for good
	Network         = "network"          // sends 64 KiB a unit and has it acknowledged
	MemoryBandwidth = "memory-bandwidth" // copies 1 MiB a unit, from and to memory
	MemoryRead      = "memory-read"      // reads 1 MiB a unit, from memory
	MemoryWrite     = "memory-write"     // writes 1 MiB a unit, to memory
	LLC             = "llc"              // changes 16,384 lines a unit, in the last-level cache
	Core            = "core"             // keeps the arithmetic units of a core busy, about 0.1 ms a unit
)

// StandardJob describes a standard job. Each does units of work of a fixed size, by several workers at once, with no idle
// time. Flags and their help, the pods that run a job, and the steps of measurements and calibrations follow from these
// descriptions; a test holds the enumerations of the API against them.
type StandardJob struct {
	// Name is that of flags, reports and the API.
	Name string
	// Does says what it does, for the help of commands.
	Does string
	// Resource is the resource with a queue that it keeps busy, "" for none.
	Resource string
	// Interference is the interference resource where it presses on others, "" for none.
	Interference string
	// Computes reports whether it is the processors that it keeps busy. Its processor time then shows how fast it would
	// be alone: it needs no run without the workload.
	Computes bool
	// Waits reports whether its workers wait for the resource, so that what they compute meanwhile is no part of that.
	// Memory and caches are used by computing.
	Waits bool
	// Conserving reports whether several of it together get as much done as one: see probing.Setting.
	Conserving bool
	// File reports whether it works on a file, in a directory of the disk to measure.
	File bool
	// Peer reports whether it sends to a peer.
	Peer bool
	// Streams reports whether it goes through more memory than the caches hold, of a size that has to fit into what its
	// pod may have.
	Streams bool
}

// StandardJobs returns the descriptions of all standard jobs. The first of a resource is the one that measures it unless
// another is named.
func StandardJobs() []StandardJob {
	return []StandardJob{
		{
			Name: CPU, Does: "computes",
			Resource: "cpu", Computes: true, Conserving: true,
		},
		{
			Name: DiskRead, Does: "reads blocks of 1 MiB, past the page cache",
			Resource: "disk", Waits: true, Conserving: true, File: true,
		},
		{
			Name: DiskWrite, Does: "writes blocks of 1 MiB and has each stored for good",
			Resource: "disk", Waits: true, Conserving: true, File: true,
		},
		{
			Name: Network, Does: "sends blocks of 64 KiB to a sink, which acknowledges each",
			Resource: "network", Waits: true, Conserving: true, Peer: true,
		},
		{
			Name: MemoryBandwidth, Does: "copies memory, well beyond the last-level cache",
			Resource: "memory-bandwidth", Interference: MemoryBandwidth, Streams: true,
		},
		{
			Name: MemoryRead, Does: "reads memory, likewise",
			Interference: MemoryBandwidth, Conserving: true, Streams: true,
		},
		{
			Name: MemoryWrite, Does: "writes memory, likewise",
			Interference: MemoryBandwidth, Conserving: true, Streams: true,
		},
		{
			Name: LLC, Does: "changes cache lines at random in half of the last-level cache",
			Interference: LLC, Conserving: true,
		},
		{
			Name: Core, Does: "keeps the arithmetic units of a core busy, which hyper-threads share",
			Interference: Core, Conserving: true,
		},
	}
}

// Jobs returns the names of the standard jobs.
func Jobs() []string {
	var names []string
	for _, job := range StandardJobs() {
		names = append(names, job.Name)
	}
	return names
}

// FindJob returns the description of a standard job by its name, and reports whether there is one. Of another name it
// returns a job that is named so and conserving, and nothing else.
func FindJob(name string) (job StandardJob, ok bool) {
	all := StandardJobs()
	if i := slices.IndexFunc(all, func(j StandardJob) bool { return j.Name == name }); i >= 0 {
		return all[i], true
	}
	return StandardJob{Name: name, Conserving: true}, false
}

// DefaultJob returns the name of the standard job that keeps a resource busy, or presses there, unless another one is
// named: the first that keeps it busy, or the job that has the resource's name.
func DefaultJob(resource string) string {
	for _, job := range StandardJobs() {
		if job.Resource == resource {
			return job.Name
		}
	}
	return resource
}

// InterferenceResource returns the name of the interference resource where a standard job
// presses on others, and reports whether it does so anywhere.
func InterferenceResource(job string) (resource string, ok bool) {
	described, _ := FindJob(job)
	return described.Interference, described.Interference != ""
}

// Help lists the standard jobs with what they do, a line each.
func Help() string {
	var text strings.Builder
	for _, job := range StandardJobs() {
		fmt.Fprintf(&text, "  %-18s %s\n", job.Name, job.Does)
	}
	return text.String()
}
