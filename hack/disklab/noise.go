package main

// noise is what happened at a run that no pod of it did.
type noise struct {
	// Operations are those of the device beyond the pods', as a part of the device's, and CPU the CPU time beyond the pods' and the lab's, as
	// a part of all processors' time.
	Operations float64 `json:"operations"`
	CPU        float64 `json:"cpu"`
	// Before are the operations of the device in the quarter of a second before the run.
	Before int64 `json:"before"`
}

// What spoils a run: foreign operations that are more than this part of all, and more per second than a kernel itself does at times.
const (
	maxForeignOperations = 0.05
	foreignFloor         = 20.0
)

// spoils reports whether the run is to be repeated, with a limit of foreign CPU time.
func (n noise) spoils(maxCPU float64) bool {
	return n.Operations > maxForeignOperations || n.CPU > maxCPU
}

// foreignOperations returns the part of the device's operations in some seconds that are not the pods'. Where pods write through the page
// cache or sync, the kernel writes for them, on the account of no pod: then reads are compared alone.
func foreignOperations(d device, pods served, kernelWrites bool, seconds float64) float64 {
	all, own := d.Reads, pods.Reads
	if !kernelWrites {
		all, own = all+d.Writes, own+pods.Writes
	}
	foreign := float64(all - own)
	if foreign <= foreignFloor*seconds || all == 0 {
		return 0
	}
	return foreign / float64(all)
}
