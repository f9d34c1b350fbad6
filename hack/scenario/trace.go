package scenario

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/pkg/trace"
)

// Trace is the trace of a real cluster: what its pods request and how long they stay, in the order in which they came, and
// the sizes of its nodes. What pods use, which no such trace says, is drawn from classes as it is where all is made up.
type Trace struct {
	pods  []tracePod
	nodes []*Size
}

// tracePod is a pod of a trace.
type tracePod struct {
	requests requests
	hours    float64 // that it stays
}

// requests are what a pod requests. Pods that request the same are taken to be of one application.
type requests struct{ milliCPU, mib int64 }

const (
	// maxMilliCPU is the largest CPU request that is used. Larger pods would wait for a node that is nearly empty, and
	// schedulers would differ in how many wait rather than in how they place pods.
	maxMilliCPU = 16_000
	// coresPerDisk is how many cores nodes have for each disk and network link, as those that are made up; a node with fewer
	// is left out.
	coresPerDisk = 8
)

// ReadOpenb reads the pods and nodes of an openb trace. Pods that request no CPU, or more than 16 cores, are left out, as are
// those that [trace.Jobs] leaves out. The error names the file, and the line if it is about one.
func ReadOpenb(podsFile string, pods io.Reader, nodesFile string, nodes io.Reader) (*Trace, error) {
	t := &Trace{}
	for job, err := range trace.Jobs(podsFile, pods, trace.Options{Format: trace.Openb}) {
		if err != nil {
			return nil, err
		}
		p := tracePod{hours: job.Neutral / 3600}
		for _, r := range job.Requests {
			switch r.Resource {
			case "cpu":
				p.requests.milliCPU = int64(math.Round(r.Amount * 1000))
			case "memory":
				p.requests.mib = int64(r.Amount / (1 << 20))
			}
		}
		if p.requests.milliCPU > 0 && p.requests.milliCPU <= maxMilliCPU {
			t.pods = append(t.pods, p)
		}
	}
	sizes := map[string]*Size{}
	for n, err := range trace.OpenbNodes(nodesFile, nodes) {
		if err != nil {
			return nil, err
		}
		cores := int(n.CPUMilli / 1000)
		if cores < coresPerDisk {
			continue
		}
		name := fmt.Sprintf("c%d-m%d", cores, n.MemoryMiB)
		if sizes[name] == nil {
			sizes[name] = &Size{Name: name, Servers: []int{cores, cores / coresPerDisk, cores / coresPerDisk}, MiB: n.MemoryMiB}
		}
		t.nodes = append(t.nodes, sizes[name])
	}
	if len(t.pods) == 0 || len(t.nodes) == 0 {
		return nil, errors.New(podsFile + ", " + nodesFile + ": want pods that request CPU, and nodes of at least 8 cores")
	}
	return t, nil
}

// traced makes a scenario of a trace.
type traced struct {
	*Trace
	applications map[requests]map[*Class]*Application
	next         int // pod
}

// addNodes adds every nth node of the trace, so that there are as many as there should be.
func (t *traced) addNodes(s *Scenario) {
	for i := range s.Options.Nodes {
		size := t.nodes[i*len(t.nodes)/s.Options.Nodes]
		s.Nodes = append(s.Nodes, Node{fmt.Sprintf("%s-%04d", size.Name, i), size})
	}
}

// addApplications adds one of each class for all pods with the same requests. Its threads are as many as use what those of its
// class use of what they request.
func (t *traced) addApplications(s *Scenario, draw *rand.Rand) {
	t.applications = map[requests]map[*Class]*Application{}
	for _, p := range t.pods {
		if t.applications[p.requests] != nil {
			continue
		}
		t.applications[p.requests] = map[*Class]*Application{}
		for _, c := range classes {
			name := fmt.Sprintf("%s-%dm-%dm", c.Name, p.requests.milliCPU, p.requests.mib)
			a := &Application{Name: name, Class: c, Vector: c.loadings(draw), MilliCPU: p.requests.milliCPU, MiB: p.requests.mib}
			used := float64(a.MilliCPU) / 1000 * c.used(draw)
			a.setThreads(max(1, int(math.Round(used/a.Vector[CPU].Loading))))
			t.applications[p.requests][c] = a
			s.Applications = append(s.Applications, a)
		}
	}
}

// coming returns the pods of the trace that come next, the first being any of them, each as one of the class that has the
// fewest pods beside its share.
func (t *traced) coming(s *Scenario, step int, draw *rand.Rand) []Pod {
	if step == 0 {
		t.next = draw.IntN(len(t.pods))
	}
	missing, pods := s.missing(step)
	var coming []Pod
	for missing > 0 {
		p := &t.pods[t.next%len(t.pods)]
		t.next++
		c := fewest(pods)
		coming = append(coming, Pod{Application: t.applications[p.requests][c], Comes: step, Goes: step + 1 + int(p.hours)})
		missing -= p.requests.milliCPU
		pods[c]++
	}
	return coming
}
