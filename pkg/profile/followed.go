package profile

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Followed is which profiles some pods follow, those of a node for example. What was computed from one snapshot for these pods
// holds in a later one if [Followed.In] says so of that and both have the same [Snapshot.NodesVersion].
type Followed struct {
	Pods []*corev1.Pod
	// Workloads are the profiles that the pods follow, in the order of the pods, nil for none.
	Workloads []*Workload

	namespaces []profiled
}

// profiled is a namespace with the profiles that it had in the last snapshot in which its pods were looked at.
type profiled struct {
	namespace string
	ranking   *Ranking[*Workload] // nil where there was no profile
}

// Follow returns which profiles the pods follow, which must not be changed.
func (s *Snapshot) Follow(pods []*corev1.Pod) *Followed { return s.FollowAfter(nil, pods) }

// FollowAfter is [Snapshot.Follow] for pods of which most are the same as before, nil for none, at the same places: the profiles of these
// are not looked for again. As [Followed.In], it must not be called by two goroutines at once with the same pods before.
func (s *Snapshot) FollowAfter(before *Followed, pods []*corev1.Pod) *Followed {
	f := &Followed{Pods: pods, Workloads: make([]*Workload, len(pods))}
	same := 0
	if before != nil && before.In(s) {
		f.namespaces = slices.Clone(before.namespaces)
		same = min(len(pods), len(before.Pods))
	}
	for j, pod := range pods {
		if j < same && pod == before.Pods[j] {
			f.Workloads[j] = before.Workloads[j]
		} else {
			f.Workloads[j] = follows(f.rankingOf(s, pod.Namespace), pod)
		}
	}
	return f
}

// rankingOf returns the profiles of a namespace, which it takes from the snapshot the first time.
func (f *Followed) rankingOf(s *Snapshot, namespace string) *Ranking[*Workload] {
	at := slices.IndexFunc(f.namespaces, func(p profiled) bool { return p.namespace == namespace })
	if at < 0 {
		at = len(f.namespaces)
		f.namespaces = append(f.namespaces, profiled{namespace, s.namespaces.get(namespace)})
	}
	return f.namespaces[at].ranking
}

// In reports whether the pods follow the same profiles in another snapshot, each in the same state as before. It takes time in
// the number of their namespaces, and in the number of pods in namespaces whose profiles have changed since the last call,
// allocates nothing, and must not be called by two goroutines at once.
func (f *Followed) In(s *Snapshot) bool {
	for i := range f.namespaces {
		p := &f.namespaces[i]
		ranking := s.namespaces.get(p.namespace)
		if ranking == p.ranking {
			continue
		}
		for j, pod := range f.Pods {
			if pod.Namespace == p.namespace && follows(ranking, pod) != f.Workloads[j] {
				return false
			}
		}
		p.ranking = ranking
	}
	return true
}

// follows returns which of the profiles of its namespace a pod follows, nil if none.
func follows(ranking *Ranking[*Workload], pod *corev1.Pod) *Workload {
	if ranking == nil {
		return nil
	}
	w, _ := ranking.Winner(labels.Set(pod.Labels))
	return w
}

// Rankings are the profiles of each namespace, ranked. An object without a namespace is in that of the name default.
type Rankings map[string]*Ranking[*Workload]

// NewRankings ranks profiles of any namespaces.
func NewRankings(all []*Workload) Rankings {
	byNamespace := map[string][]*Workload{}
	for _, w := range all {
		namespace := cmp.Or(w.Namespace, metav1.NamespaceDefault)
		byNamespace[namespace] = append(byNamespace[namespace], w)
	}
	rankings := make(Rankings, len(byNamespace))
	for namespace, some := range byNamespace {
		rankings[namespace] = NewRanking(some)
	}
	return rankings
}

// Workload returns the profile that a pod follows, nil for none.
func (r Rankings) Workload(pod *corev1.Pod) *Workload {
	return follows(r[cmp.Or(pod.Namespace, metav1.NamespaceDefault)], pod)
}
