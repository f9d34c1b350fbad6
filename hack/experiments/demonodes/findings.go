package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/probe/result"
)

// findings are what the first part leaves for the others, in a file of the output
// folder.
type findings struct {
	// IOJob is the standard job of the device.
	IOJob standard `json:"ioJob"`
	// Speeds are those of a node without other jobs.
	Speeds speeds `json:"speeds"`
	// IOServers is how many requests the device serves at once.
	IOServers int `json:"ioServers"`
	// Vectors are the measured vectors of the kinds, by resource.
	Vectors map[string][]component `json:"vectors"`
	// Accounts are what the kinds told of a run alone then: of several runs, that which
	// computed for the middle time.
	Accounts map[string]result.Load `json:"accounts"`
}

// component is what was measured of a job at a resource.
type component struct {
	Resource    string  `json:"resource"`
	Loading     float64 `json:"loading"`
	Pressure    float64 `json:"pressure"`
	Sensitivity float64 `json:"sensitivity"`
}

func findingsFile(out string) string { return filepath.Join(out, "measured.json") }

// readFindings reads what an earlier run has found, nothing if there was none.
func readFindings(out string) (*findings, error) {
	f := &findings{}
	err := readJSON(findingsFile(out), f)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was measured before: %w (run the part measure again)", err)
	}
	return f, nil
}

// learn notes what was found of a kind.
func (f *findings) learn(name string, inUse []component, account result.Load) {
	if f.Vectors == nil {
		f.Vectors = map[string][]component{}
	}
	if f.Accounts == nil { // as in files of earlier versions, beside vectors
		f.Accounts = map[string]result.Load{}
	}
	f.Vectors[name], f.Accounts[name] = inUse, account
}

// write keeps the findings for later runs.
func (f *findings) write(out string) error {
	return writeJSON(findingsFile(out), f)
}

func writeJSON(file string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o644)
}

func readJSON(file string, value any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

// require reports whether everything is known that a part needs of some kinds.
func (f *findings) require(io standard, names ...string) error {
	if f.IOJob != io {
		return fmt.Errorf("nothing was measured with the job %s: run the part measure first", io)
	}
	for _, name := range names {
		if _, told := f.Accounts[name]; len(f.Vectors[name]) == 0 || !told {
			return fmt.Errorf("the job %s was not measured: run the part measure first", name)
		}
	}
	return nil
}

// vector returns the measured vector of a kind.
func (f *findings) vector(name string) contention.Vector {
	resources := device{job: f.IOJob}.resources()
	v := make(contention.Vector, len(resources))
	for i, resource := range resources {
		for _, c := range f.Vectors[name] {
			if c.Resource == resource {
				v[i] = contention.Demand{Loading: c.Loading, Pressure: c.Pressure, Sensitivity: c.Sensitivity, Threads: 1}
			}
		}
	}
	return v
}

// vectorLike returns the measured vector of a kind on processors as fast as in one of its
// runs: as many times slower than then as the same work computed longer.
func (f *findings) vectorLike(l result.Load, name string) contention.Vector {
	computed, then := float64(l.CPUNanos)/1e9, computingOf(l, f.Accounts[name])
	if computed <= 0 || then <= 0 { // it does not compute
		return f.vector(name)
	}
	v, _ := contention.NodeClass{Servers: f.servers(), Speeds: []float64{then / computed}}.On(f.vector(name))
	return v
}

// servers are those of a worker: one core, and the device's.
func (f *findings) servers() []int { return []int{1, max(1, f.IOServers)} }
