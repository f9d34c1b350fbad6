package result

// The standard jobs, by the names that flags and reports have for them. Each does
// units of work of a fixed size, by several workers at once, with no idle time.
const (
	CPU             = "cpu"              // integer arithmetic, about 0.2 ms a unit
	DiskRead        = "disk-read"        // reads 1 MiB a unit, past the page cache
	DiskWrite       = "disk-write"       // writes 1 MiB a unit and has it stored for good
	Network         = "network"          // sends 64 KiB a unit and has it acknowledged
	MemoryBandwidth = "memory-bandwidth" // copies 1 MiB a unit, from and to memory
)

// Jobs returns the names of the standard jobs.
func Jobs() []string { return []string{CPU, DiskRead, DiskWrite, Network, MemoryBandwidth} }
