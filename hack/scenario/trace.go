package scenario

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/pkg/trace"
)

// Trace is what is taken from the trace of a real cluster in the place of what is made up: what pods request and how long
// they stay, in their order, and the sizes of nodes. What pods use, which no such trace says, is still drawn from classes.
type Trace struct {
	pods  []tracePod
	sizes []*Size
	nodes []int // of sizes, in their order
}

// tracePod is a pod of a trace.
type tracePod struct {
	requests requests
	hours    float64 // that it stays
}

// requests are what a pod requests. Pods that request the same are taken to be of one application.
type requests struct{ milliCPU, mib int64 }

// most is the largest request for CPU that is used: nodes are nearly full before a larger one fits, and which scheduler finds
// room for it is another question than this one.
const most = 16_000

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
		if p.requests.milliCPU > 0 && p.requests.milliCPU <= most {
			t.pods = append(t.pods, p)
		}
	}
	known := map[string]int{} // sizes, by name
	for n, err := range trace.OpenbNodes(nodesFile, nodes) {
		if err != nil {
			return nil, err
		}
		cores := int(n.CPUMilli / 1000)
		if cores < 8 {
			continue
		}
		name := fmt.Sprintf("c%d-m%d", cores, n.MemoryMiB)
		at, is := known[name]
		if !is {
			at = len(t.sizes)
			known[name] = at
			t.sizes = append(t.sizes, &Size{Name: name, Servers: []int{cores, cores / 8, cores / 8}, MiB: n.MemoryMiB})
		}
		t.nodes = append(t.nodes, at)
	}
	if len(t.pods) == 0 || len(t.nodes) == 0 {
		return nil, errors.New(podsFile + ", " + nodesFile + ": want pods that request CPU, and nodes of at least 8 cores")
	}
	return t, nil
}

// addNodes adds nodes at equal distances in the list of the trace.
func (t *Trace) addNodes(s *Scenario) {
	for i := range s.Options.Nodes {
		size := t.sizes[t.nodes[i*len(t.nodes)/s.Options.Nodes]]
		s.Nodes = append(s.Nodes, Node{fmt.Sprintf("%s-%04d", size.Name, i), size})
	}
}

// traced are the applications of pods with the same requests, by class.
type traced map[*Class]*Application

// addApplications adds one of each class for all pods with the same requests. Its threads are as many as use what those of its
// class use of what they request.
func (t *Trace) addApplications(s *Scenario, draw *rand.Rand) {
	s.traced = map[requests]traced{}
	for _, p := range t.pods {
		if s.traced[p.requests] != nil {
			continue
		}
		s.traced[p.requests] = traced{}
		for _, c := range classes {
			name := fmt.Sprintf("%s-%dm-%dm", c.Name, p.requests.milliCPU, p.requests.mib)
			a := &Application{Name: name, Class: c, Vector: c.loadings(draw), MilliCPU: p.requests.milliCPU, MiB: p.requests.mib}
			used := float64(a.MilliCPU) / 1000 * c.used(draw)
			a.thread(max(1, int(math.Round(used/a.Vector[CPU].Loading))))
			s.traced[p.requests][c] = a
			s.Applications = append(s.Applications, a)
		}
	}
}

// coming returns the pods of the trace that come next, from some place in it on, each as one of the class that has the fewest
// pods beside its share.
func (t *Trace) coming(s *Scenario, step int, draw *rand.Rand) []Pod {
	if step == 0 {
		s.next = draw.IntN(len(t.pods))
	}
	missing, pods := s.missing(step)
	var coming []Pod
	for missing > 0 {
		p := &t.pods[s.next%len(t.pods)]
		s.next++
		c := fewest(pods)
		coming = append(coming, Pod{Application: s.traced[p.requests][c], Comes: step, Goes: step + 1 + int(p.hours)})
		missing -= p.requests.milliCPU
		pods[c]++
	}
	return coming
}
