package findings

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/profile"
)

// Suggestion is a profile for a workload that has none, by the observations of its pods.
type Suggestion struct {
	Workload string `json:"workload"`
	// Pods is how many pods were observed, Nodes on how many nodes, and Seconds for how long in all.
	Pods    int     `json:"pods"`
	Nodes   int     `json:"nodes"`
	Seconds float64 `json:"seconds"`
	// Lowest and Highest are the CPU loadings of the pods that have the lowest and the highest, and Disk those at disks.
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
	// Disk is absent where it is known of no pod for how long disks served it.
	Disk *Range `json:"disk,omitempty"`
	// Problem says why there is no profile, if there is none: the pods cannot be selected.
	Problem string                    `json:"problem,omitempty"`
	Profile *v1alpha1.WorkloadProfile `json:"profile,omitempty"`
}

// Range is from a lowest to a highest value.
type Range struct {
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
}

// with returns a range, nil for an empty one, that has a value as well.
func (r *Range) with(value float64) *Range {
	if r == nil {
		return &Range{value, value}
	}
	return &Range{min(r.Lowest, value), max(r.Highest, value)}
}

// Suggest returns a profile for each workload that was observed and has none, in the order of their names. Pods are those of
// the answer's cluster, and profiles those that there are. Pods that stand alone are left out, and so are those that were
// observed too shortly to judge.
func (a *Answer) Suggest(pods []corev1.Pod, profiles []v1alpha1.WorkloadProfile) []Suggestion {
	index := profile.NewIndex(nil, logr.Discard())
	for i := range profiles {
		index.OnAdd(&profiles[i], true)
	}
	snapshot := index.Snapshot()
	byName := make(map[types.NamespacedName]*corev1.Pod, len(pods))
	for i := range pods {
		byName[types.NamespacedName{Namespace: pods[i].Namespace, Name: pods[i].Name}] = &pods[i]
	}
	members := map[string][]*Pod{}
	objects := map[string][]*corev1.Pod{}
	for i := range a.Pods {
		p := &a.Pods[i]
		namespace, name, _ := strings.Cut(p.Pod, "/")
		object := byName[types.NamespacedName{Namespace: namespace, Name: name}]
		if p.Short || object == nil || strings.HasPrefix(p.Workload, "Pod ") || snapshot.Workload(object) != nil {
			continue
		}
		members[p.Workload] = append(members[p.Workload], p)
		objects[p.Workload] = append(objects[p.Workload], object)
	}
	suggestions := []Suggestion{}
	for _, workload := range slices.Sorted(maps.Keys(members)) {
		suggestions = append(suggestions, suggest(workload, members[workload], objects[workload], pods))
	}
	return suggestions
}

// suggest returns a profile for the pods of a workload.
func suggest(workload string, members []*Pod, objects []*corev1.Pod, all []corev1.Pod) Suggestion {
	s := Suggestion{Workload: workload, Pods: len(members), Lowest: math.Inf(1)}
	nodes := map[string]bool{}
	cpu, disk, known, threads, bursts, bursting := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for _, p := range members {
		nodes[p.Node] = true
		s.Seconds += p.Seconds
		alone := Loadings{CPU: p.CPULoading}
		if p.Alone != nil {
			alone = *p.Alone
			s.Disk = s.Disk.with(alone.Disk)
			disk += alone.Disk * p.Seconds
			known += p.Seconds
		}
		s.Lowest, s.Highest = min(s.Lowest, alone.CPU), max(s.Highest, alone.CPU)
		cpu += alone.CPU * p.Seconds
		threads += p.Threads * p.Seconds
		if p.BurstSeconds > 0 {
			bursts += p.BurstSeconds * p.CPUs * p.Seconds
			bursting += p.CPUs * p.Seconds
		}
	}
	s.Nodes = len(nodes)
	selector, err := workloads.Selector(objects, all)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	_, name, _ := strings.Cut(workload, "/")
	if len(validation.IsDNS1123Subdomain(name)) > 0 { // names of owners may be any
		s.Problem = fmt.Sprintf("%q is no name that a profile may have", name)
		return s
	}
	demand := v1alpha1.ResourceDemand{Name: string(corev1.ResourceCPU), Loading: hundredths(cpu / s.Seconds)}
	if n := int32(math.Round(min(threads/s.Seconds, maxSuggestedThreads))); n > 1 {
		demand.Threads = &n
	}
	if bursting > 0 {
		demand.BurstMillis = suggestedBurst(bursts / bursting)
	}
	demands := []v1alpha1.ResourceDemand{demand}
	if known > 0 {
		atDisk := hundredths(min(disk/known, 1-cpu/s.Seconds))
		if atDisk.Sign() > 0 && demand.Loading.MilliValue()+atDisk.MilliValue() <= 1000 { // each is rounded
			demands = append(demands, v1alpha1.ResourceDemand{Name: observed.Disk, Loading: atDisk, Threads: demand.Threads})
		}
	}
	s.Profile = &v1alpha1.WorkloadProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfile"},
		ObjectMeta: metav1.ObjectMeta{Namespace: objects[0].Namespace, Name: name},
		Spec:       v1alpha1.WorkloadProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}, Resources: demands},
	}
	return s
}

// suggestedBurst returns a burst of some seconds in whole milliseconds, nil for one that is about none: a limit counts as if bursts were
// short where a profile says nothing of them.
func suggestedBurst(seconds float64) *int64 {
	const perSecond, longest = 1000, 1e6
	millis := int64(math.Round(perSecond * min(seconds, longest)))
	if millis == 0 {
		return nil
	}
	return &millis
}

// maxSuggestedThreads is the largest number of threads that the API takes.
const maxSuggestedThreads = 16384

// hundredths returns a fraction as a quantity with two decimals.
func hundredths(fraction float64) *resource.Quantity {
	return resource.NewMilliQuantity(int64(math.Round(min(1, fraction)*100))*10, resource.DecimalSI)
}
