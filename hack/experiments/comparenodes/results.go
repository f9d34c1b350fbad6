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
	// Observed is what a gauge saw of each program alone.
	Observed []usage.Pod `json:"observed"`
	Turns    []Turn      `json:"turns"`
}

// Alone is a run of a program without others.
type Alone struct {
	Program int              `json:"program"`
	Node    string           `json:"node"`
	Account *program.Account `json:"account"`
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
	return r.alone(p, "", func(a *program.Account) float64 { return a.Computed / a.Seconds })
}

// alone returns the mean of a figure over the runs of a program alone on a node, or on any where none is named; 0 without runs.
func (r *Results) alone(p int, node string, figure func(*program.Account) float64) float64 {
	sum, n := 0.0, 0.0
	for _, a := range r.Alone {
		if a.Program == p && (node == "" || a.Node == node) {
			sum += figure(a.Account)
			n++
		}
	}
	return sum / max(1, n)
}
