package nodesim

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// How long a node is simulated. Batches are long enough that what happens in one hardly depends on the one before.
const (
	settlingRounds = 10 // of the pod that has the longest
	batchRounds    = 10
	leastBatch     = time.Second
	leastBatches   = 5
	mostBatches    = 40
)

// node is a node with pods.
type node struct {
	servers []int
	kinds   []*kind // in an order that does not depend on that of the pods
}

// kind is some equal pods.
type kind struct {
	Pod
	key []byte
	at  []int // their indices
}

func newNode(servers []int, pods []Pod) *node {
	n, known := &node{servers: servers}, map[string]*kind{}
	for i, p := range pods {
		key := p.appendKey(nil)
		k := known[string(key)]
		if k == nil {
			k = &kind{Pod: p, key: key}
			known[string(key)], n.kinds = k, append(n.kinds, k)
		}
		k.at = append(k.at, i)
	}
	slices.SortFunc(n.kinds, func(a, b *kind) int { return bytes.Compare(a.key, b.key) })
	return n
}

// appendKey appends what distinguishes the node from others.
func (n *node) appendKey(key []byte) []byte {
	key = binary.AppendUvarint(key, uint64(len(n.servers)))
	for _, servers := range n.servers {
		key = binary.AppendUvarint(key, uint64(servers))
	}
	for _, k := range n.kinds {
		key = append(binary.AppendUvarint(key, uint64(len(k.at))), k.key...)
	}
	return key
}

// machine returns the node as it is simulated.
func (n *node) machine(kernel linuxsched.Kernel, discipline linuxsched.Discipline) linuxsched.Machine {
	const perCache = 16 // processors
	m := linuxsched.Machine{Kernel: kernel, CPUs: n.servers[0], Caches: 1}
	if m.CPUs%perCache == 0 {
		m.Caches = m.CPUs / perCache
	}
	for _, servers := range n.servers[1:] {
		m.Stations = append(m.Stations, linuxsched.Station{Servers: servers, Discipline: discipline})
	}
	return m
}

// simulate simulates the node until the stretches of all kinds of pods are precise enough, and returns how long that took there.
func (n *node) simulate(kernel linuxsched.Kernel, discipline linuxsched.Discipline, precision float64) ([]stretch, time.Duration, error) {
	var pods []linuxsched.Pod
	round := time.Duration(0)
	for _, k := range n.kinds {
		round = max(round, k.round())
		for nth := range k.at {
			pods = append(pods, k.simulated(nth))
		}
	}
	settling, batch := settlingRounds*round, max(leastBatch, batchRounds*round)
	windows, err := n.machine(kernel, discipline).Windows(pods, settling, batch)
	if err != nil {
		return nil, 0, err
	}
	stretches, batches := make([]stretch, len(n.kinds)), 0
	for result := range windows {
		batches++
		precise, first := batches >= leastBatches, 0
		for k := range n.kinds {
			s, after := &stretches[k], first+len(n.kinds[k].at)
			s.add(result.Pods[first:after])
			precise, first = precise && s.err() <= precision*s.mean(), after
		}
		if precise || batches == mostBatches {
			break
		}
	}
	return stretches, settling + time.Duration(batches)*batch, nil
}

// stretch is by how much longer equal pods take than if their threads never waited.
type stretch struct {
	usage    linuxsched.Usage
	progress []float64 // in each batch, by how much of the time they did something of their own
}

// add adds a batch.
func (s *stretch) add(pods []linuxsched.Usage) {
	var batch linuxsched.Usage
	for _, u := range pods {
		batch.Add(u)
	}
	s.usage.Add(batch)
	s.progress = append(s.progress, 1/batch.Stretch())
}

// mean returns the estimate over all batches, which are equally long: the reciprocal of the mean progress.
func (s *stretch) mean() float64 { return s.usage.Stretch() }

// err returns its standard error, to first order in that of the progress.
func (s *stretch) err() float64 {
	return stat.StdDev(s.progress, nil) / math.Sqrt(float64(len(s.progress))) * s.mean() * s.mean()
}

// over returns the dilation in relation to the stretch alone.
func (s *stretch) over(alone stretch) Dilation {
	mean := s.mean() / alone.mean()
	return Dilation{
		Mean: mean, Error: mean * math.Hypot(s.err()/s.mean(), alone.err()/alone.mean()),
		Usage: s.usage, Alone: alone.usage,
	}
}
