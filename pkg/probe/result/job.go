package result

// The standard jobs, by the names that flags and reports have for them. Each does
// units of work of a fixed size, by several workers at once, with no idle time.
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

// Jobs returns the names of the standard jobs.
func Jobs() []string {
	return []string{CPU, DiskRead, DiskWrite, Network, MemoryBandwidth, MemoryRead, MemoryWrite, LLC, Core}
}

// InterferenceResource returns the name of the interference resource where a standard job
// presses on others, and reports whether it does so anywhere: bubbles press at [LLC],
// [MemoryBandwidth] or [Core].
func InterferenceResource(job string) (resource string, ok bool) {
	switch job {
	case MemoryBandwidth, MemoryRead, MemoryWrite:
		return MemoryBandwidth, true
	case LLC, Core:
		return job, true
	default:
		return "", false
	}
}
