//go:build e2e

package e2e

import (
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/test/live"
)

// reserved are the workers that tests have to themselves, by their places.
var reserved = struct {
	*sync.Cond // whenever one is given back
	places     map[int]bool
}{sync.NewCond(&sync.Mutex{}), map[int]bool{}}

// reserve returns the names of some workers, by their places, that the test has to
// itself until it ends: no other pods run there when it begins. It takes all at
// once or none, so that no test waits for one while others wait for it.
func reserve(t *testing.T, places ...int) []string {
	t.Helper()
	reserved.L.Lock()
	for slices.ContainsFunc(places, func(place int) bool { return reserved.places[place] }) {
		reserved.Wait()
	}
	for _, place := range places {
		reserved.places[place] = true
	}
	reserved.L.Unlock()
	t.Cleanup(func() {
		reserved.L.Lock()
		defer reserved.L.Unlock()
		for _, place := range places {
			delete(reserved.places, place)
		}
		reserved.Broadcast()
	})
	names := make([]string, len(places))
	for i, place := range places {
		names[i] = cluster.Workers[place].Name
		awaitQuiet(t, names[i])
	}
	return names
}

// awaitQuiet waits until the pods of others are gone from a node.
func awaitQuiet(t *testing.T, node string) {
	t.Helper()
	cluster.Await(t, "no pods to run on "+node, live.Node(node), func() (bool, string) {
		var pods corev1.PodList
		must(t, cluster.List(t.Context(), &pods, client.MatchingFields{"spec.nodeName": node}))
		return probejob.Quiet(node, pods.Items, *operator)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
