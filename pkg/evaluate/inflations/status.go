package inflations

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/inflation"
)

const (
	// maxSlowest and maxNamed bound the pods and the neighbours of a status.
	maxSlowest, maxNamed = 20, 8
	// noticeable is the least change of an inflation that is written, and noticeablePart that of other numbers, as a part.
	noticeable, noticeablePart = 0.03, 0.1
)

// Observation returns an estimate as the status of a profile of a namespace shows it. Neighbours in other namespaces have no names there.
func Observation(class, namespace string, e *Estimate) v1alpha1.WorkObservation {
	o := v1alpha1.WorkObservation{
		NodeProfile: class, Quiet: quantities(e.Quiet), UnitsPerSecond: quantity(e.Rate), Pods: new(int32(len(e.Pods))),
		Minutes: new(int32(e.Slots + e.Before)), Neighbours: neighbours(namespace, e), Time: new(metav1.NewTime(e.Ended)),
		Overhead: quantity(e.Overhead), Revision: e.Revision,
	}
	if e.Inflation.Value > 0 {
		now := quantities(e.Inflation)
		o.Inflation = &now
		o.Slowest = slowest(e)
	}
	return o
}

// slowest returns the pods that serve slowest, in the order of their names.
func slowest(e *Estimate) []v1alpha1.WorkPod {
	numbers := []int{}
	for k, slower := range e.Estimate.Pods {
		if slower > 0 && k < len(e.Pods) {
			numbers = append(numbers, k)
		}
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(e.Estimate.Pods[b], e.Estimate.Pods[a]) })
	var pods []v1alpha1.WorkPod
	for _, k := range numbers {
		same := func(p v1alpha1.WorkPod) bool { return p.Name == e.Pods[k] } // StatefulSets make pods anew under a name
		if len(pods) < maxSlowest && !slices.ContainsFunc(pods, same) {
			pods = append(pods, v1alpha1.WorkPod{Name: e.Pods[k], Inflation: quantity(e.Estimate.Pods[k])})
		}
	}
	slices.SortFunc(pods, func(a, b v1alpha1.WorkPod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// neighbours says which neighbours go with an inflation, or why none is named. Where several groups do, it is the one that adds most now.
func neighbours(namespace string, e *Estimate) v1alpha1.WorkNeighbours {
	before := false
	for i := range e.Effects {
		f := &e.Effects[i]
		if !f.Named {
			continue
		}
		if before = true; f.Adds.Value < inflation.Noticeable {
			continue
		}
		adds := quantities(f.Adds)
		n := v1alpha1.WorkNeighbours{Reason: v1alpha1.NeighboursNamed, Adds: &adds}
		for _, k := range f.Neighbours[:min(len(f.Neighbours), maxNamed)] {
			named := v1alpha1.WorkNeighbour{PodUID: e.Neighbours[k].PodUID}
			if _, name, _ := strings.Cut(e.Neighbours[k].Workload, " "); strings.HasPrefix(name, namespace+"/") {
				named.Workload = e.Neighbours[k].Workload
			}
			n.Named = append(n.Named, named)
		}
		return n
	}
	switch {
	case before:
		return v1alpha1.WorkNeighbours{Reason: v1alpha1.NeighboursNotNow}
	case e.Slots < inflation.MinTested:
		return v1alpha1.WorkNeighbours{Reason: v1alpha1.NeighboursTooShort}
	case len(e.Effects) == 0:
		return v1alpha1.WorkNeighbours{Reason: v1alpha1.NeighboursNotTested}
	default:
		return v1alpha1.WorkNeighbours{Reason: v1alpha1.NeighboursNoEvidence}
	}
}

func quantities(v inflation.Value) v1alpha1.EstimatedQuantity {
	return v1alpha1.EstimatedQuantity{Value: quantity(v.Value), Low: quantity(v.Low), High: quantity(v.High)}
}

// quantity returns a number with four digits, bounded since gauges and counters may lie.
func quantity(f float64) *resource.Quantity {
	const largest, digits = 1e15, 4
	if !(f > 0) {
		return new(resource.MustParse("0"))
	}
	magnitude := int(math.Floor(math.Log10(min(f, largest))))
	q, err := resource.ParseQuantity(strconv.FormatFloat(min(f, largest), 'f', min(9, max(0, digits-1-magnitude)), 64))
	if err != nil {
		return new(resource.MustParse("0")) // it cannot be
	}
	return &q
}

// Differs reports whether an observation says something else than one before it, by twice as many minutes, or than one that is older than an hour.
func Differs(before, after *v1alpha1.WorkObservation) bool {
	const renewAfter = 3600 // seconds
	switch {
	case before.Time == nil || after.Time.Sub(before.Time.Time).Seconds() >= renewAfter, before.Revision != after.Revision:
		return true
	case before.Minutes == nil || *after.Minutes >= 2**before.Minutes:
		return true
	case (before.Inflation == nil) != (after.Inflation == nil), !near(before.Quiet.Value, after.Quiet.Value, 0, noticeablePart/2):
		return true
	case after.Inflation != nil && !near(before.Inflation.Value, after.Inflation.Value, noticeable, 0):
		return true
	case before.Neighbours.Reason != after.Neighbours.Reason || !slices.Equal(before.Neighbours.Named, after.Neighbours.Named):
		return true
	case after.Neighbours.Adds != nil && !near(before.Neighbours.Adds.Value, after.Neighbours.Adds.Value, noticeable, 0):
		return true
	}
	return slices.ContainsFunc(after.Slowest, func(p v1alpha1.WorkPod) bool { // that of a pod that went is of no use, and harms nothing
		at := slices.IndexFunc(before.Slowest, func(q v1alpha1.WorkPod) bool { return q.Name == p.Name })
		return at < 0 || !near(before.Slowest[at].Inflation, p.Inflation, 2*noticeable, 0)
	})
}

func near(a, b *resource.Quantity, within, part float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	f, g := a.AsApproximateFloat64(), b.AsApproximateFloat64()
	return math.Abs(f-g) <= within+part*math.Abs(f)
}
