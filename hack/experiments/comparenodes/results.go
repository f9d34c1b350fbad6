package main

import (
	"path/filepath"

	"loadline.dev/loadline/hack/experiments/measure"
	"loadline.dev/loadline/hack/experiments/program"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Results are all that was drawn and measured, as the file has it.
type Results struct {
	Seed    uint64 `json:"seed"`
	Machine string `json:"machine"`
	// WindowSeconds is for how long pods were measured together, and AloneSeconds alone.
	WindowSeconds float64   `json:"windowSeconds"`
	AloneSeconds  float64   `json:"aloneSeconds"`
	Programs      []Program `json:"programs"`
	Batches       []Batch   `json:"batches"`
	// Alone are runs of one program on a node without other pods.
	Alone []Alone `json:"alone"`
	Turns []Turn  `json:"turns"`
}

// Alone is a run of a program without others.
type Alone struct {
	Program int              `json:"program"`
	Node    string           `json:"node"`
	Account *program.Account `json:"account"`
	// Seen is what a gauge saw of it.
	Seen usage.Pod `json:"seen"`
}

// Turn is a batch as a scheduler placed it.
type Turn struct {
	Batch     int    `json:"batch"`
	Scheduler string `json:"scheduler"`
	// Requests are those of the pods, in thousandths of a core.
	Requests []int              `json:"requests"`
	Nodes    []string           `json:"nodes"`
	Accounts []*program.Account `json:"accounts"`
	// Others is how many processors were busy with anything but the pods, and Stolen how many the hypervisor took.
	Others float64 `json:"others"`
	Stolen float64 `json:"stolen"`
}

func file(out string) string { return filepath.Join(out, "results.json") }

func (r *Results) write(out string) error { return measure.WriteJSON(file(out), r) }

func read(out string) (*Results, error) {
	r := &Results{}
	return r, measure.ReadJSON(file(out), r)
}

// used returns how much of a core a program uses alone, on average over its runs.
func (r *Results) used(p int) float64 {
	return r.mean(p, "", func(a *Alone) float64 { return a.Account.Computed / a.Account.Seconds })
}

// seen returns what gauges saw of a program alone, on average: its loading at the CPU, and its threads.
func (r *Results) seen(p int) (loading, threads float64) {
	return r.mean(p, "", func(a *Alone) float64 { return a.Seen.CPULoading }), r.mean(p, "", func(a *Alone) float64 { return a.Seen.Threads })
}

// alone returns the mean of a figure over the runs of a program alone on a node.
func (r *Results) alone(p int, node string, f figure) float64 {
	return r.mean(p, node, func(a *Alone) float64 { return f(a.Account) })
}

// mean returns a mean over the runs of a program alone on a node, or on any where none is named; 0 without runs.
func (r *Results) mean(p int, node string, of func(*Alone) float64) float64 {
	sum, n := 0.0, 0.0
	for i := range r.Alone {
		if a := &r.Alone[i]; a.Program == p && (node == "" || a.Node == node) {
			sum += of(a)
			n++
		}
	}
	return sum / max(1, n)
}
