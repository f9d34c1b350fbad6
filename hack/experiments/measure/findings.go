package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/probe/result"
)

// Findings are what the first part leaves for the others, in a file of the output
// folder.
type Findings struct {
	// IOJob is the standard job of the device.
	IOJob job.Standard `json:"ioJob"`
	// Speeds are those of a node without other jobs.
	Speeds job.Speeds `json:"speeds"`
	// IOServers is how many requests the device serves at once.
	IOServers int `json:"ioServers"`
	// Vectors are the measured vectors of the kinds, by resource.
	Vectors map[string][]Component `json:"vectors"`
	// Accounts are the reports of the kinds of a run alone then: of several runs, that which
	// computed for the middle time.
	Accounts map[string]result.Load `json:"accounts"`
}

// Component is what was measured of a job at a resource.
type Component struct {
	Resource    string  `json:"resource"`
	Loading     float64 `json:"loading"`
	Pressure    float64 `json:"pressure"`
	Sensitivity float64 `json:"sensitivity"`
}

func findingsFile(out string) string { return filepath.Join(out, "measured.json") }

// Read reads what an earlier run has found, nothing if there was none.
func Read(out string) (*Findings, error) {
	f := &Findings{}
	err := ReadJSON(findingsFile(out), f)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was measured before: %w (run the part measure again)", err)
	}
	return f, nil
}

// Learn notes what was found of a kind.
func (f *Findings) Learn(name string, inUse []Component, account result.Load) {
	if f.Vectors == nil {
		f.Vectors = map[string][]Component{}
	}
	if f.Accounts == nil { // as in files of earlier versions, beside vectors
		f.Accounts = map[string]result.Load{}
	}
	f.Vectors[name], f.Accounts[name] = inUse, account
}

// Write keeps the findings for later runs.
func (f *Findings) Write(out string) error {
	return WriteJSON(findingsFile(out), f)
}

// WriteJSON writes a file of the output folder.
func WriteJSON(file string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o644)
}

// ReadJSON reads a file that WriteJSON has written.
func ReadJSON(file string, value any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

// Require reports whether everything is known that a part needs of some kinds.
func (f *Findings) Require(io job.Standard, names ...string) error {
	if f.IOJob != io {
		return fmt.Errorf("nothing was measured with the job %s: run the part measure first", io)
	}
	for _, name := range names {
		if _, known := f.Accounts[name]; len(f.Vectors[name]) == 0 || !known {
			return fmt.Errorf("the job %s was not measured: run the part measure first", name)
		}
	}
	return nil
}

// Vector returns the measured vector of a kind.
func (f *Findings) Vector(name string) loading.Vector {
	resources := job.Device{Job: f.IOJob}.Resources()
	v := make(loading.Vector, len(resources))
	for i, resource := range resources {
		for _, c := range f.Vectors[name] {
			if c.Resource == resource {
				v[i] = loading.Demand{Loading: c.Loading, Pressure: c.Pressure, Sensitivity: c.Sensitivity, Threads: 1}
			}
		}
	}
	return v
}

// VectorLike returns the measured vector of a kind on processors as fast as in one of its
// runs: as many times slower than then as the same work computed longer.
func (f *Findings) VectorLike(l result.Load, name string) loading.Vector {
	computed, then := float64(l.CPUNanos)/1e9, job.Computing(l, f.Accounts[name])
	if computed <= 0 || then <= 0 { // it does not compute
		return f.Vector(name)
	}
	v, _ := mix.NodeClass{Servers: f.Servers(), Speeds: []float64{then / computed}}.On(f.Vector(name))
	return v
}

// Servers are those of a worker: one core, and the device's.
func (f *Findings) Servers() []int { return []int{1, max(1, f.IOServers)} }
