package main

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// program is the descheduler of make bin/tools/descheduler.
var program = flag.String("descheduler", "", "path of the descheduler; empty leaves out the tests that run it")

// served returns a client of the API server of a cluster.
func served(t *testing.T, c *cluster) (*apiServer, *kubernetes.Clientset) {
	t.Helper()
	server, err := startAPIServer(t.Context(), c, seenAt(t, c, 0).use)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.close(); err != nil {
			t.Error(err)
		}
	})
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(server.kubeconfig()))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

func TestClientsSeeTheClusterAndEvictPods(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	server, client := served(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	factory := informers.NewSharedInformerFactory(client, 0) // as the descheduler reads
	pods, nodes := factory.Core().V1().Pods().Lister(), factory.Core().V1().Nodes().Lister()
	factory.Core().V1().Pods().Informer()
	factory.Core().V1().Nodes().Informer()
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Fatalf("%v: not listed", kind)
		}
	}
	for i := range c.scenario.Pods {
		got, err := pods.Pods(c.scenario.Namespace()).Get(c.scenario.Pods[i].Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.pod(i).Spec, got.Spec); diff != "" {
			t.Fatalf("(-in the cluster +listed)\n%s", diff)
		}
	}
	if _, err := nodes.Get(c.nodes[3].Name); err != nil {
		t.Error(err)
	}
	for _, i := range []int{4, 2} {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: c.scenario.Pods[i].Name, Namespace: c.scenario.Namespace()}}
		if err := client.PolicyV1().Evictions(eviction.Namespace).Evict(ctx, eviction); err != nil {
			t.Error(err)
		}
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "no-pod", Namespace: c.scenario.Namespace()}}
	if err := client.PolicyV1().Evictions(eviction.Namespace).Evict(ctx, eviction); !apierrors.IsNotFound(err) {
		t.Errorf("evicting no pod: %v", err)
	}
	if diff := cmp.Diff([]int{4, 2}, server.evicted); diff != "" {
		t.Errorf("evicted (-want +got)\n%s", diff)
	}
}

func TestNodesUseWhatTheirPodsUseTogether(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	a := &apiServer{cluster: c, use: map[int]float64{}}
	for i, n := range c.at {
		if n == 2 {
			a.use[i] = 0.25
		}
	}
	usage := a.usage(c.byNode()[2]...)
	if got, want := usage.Cpu().MilliValue(), int64(250*len(c.byNode()[2])); got != want || usage.Memory().Value() < 1<<20 {
		t.Errorf("the node uses %d thousandths of a core and %s, want %d", got, usage.Memory(), want)
	}
}

func TestARunOfTheDeschedulerIsOneWithoutErrors(t *testing.T) {
	t.Parallel()
	const end = `I1128 12:29:56.058609 6424 descheduler.go:252] "Number of evictions/requests" totalEvicted=70` + "\n"
	for log, want := range map[string]bool{
		end: true, "": false,
		"I1128 12:29:56.000000 6424 a.go:1] \"Error\"\n" + end:                                           true,
		"E1128 12:29:56.000000 6424 a.go:1] \"no\"\n" + end:                                              false,
		"E1128 12:29:56.000000 6424 a.go:1] \"Error evicting pod\" err=\"" + limitReached + "\"\n" + end: true,
	} {
		if got := ran(log); got != want {
			t.Errorf("%q: %t", log, got)
		}
	}
	missing := &descheduler{program: filepath.Join(t.TempDir(), "none"), thresholds: deviations}
	if _, err := missing.evict(t.Context(), small(t, 1), nil); err == nil {
		t.Error("a program that is not there has run")
	}
}

func TestTheDeschedulerEvictsFromBusyNodes(t *testing.T) {
	t.Parallel()
	if *program == "" {
		t.Skip("no descheduler: make bin/tools/descheduler builds it, -descheduler names it")
	}
	c := small(t, 1)
	seen := seenAt(t, c, 0)
	busy := func(n int) float64 {
		sum := 0.0
		for _, i := range c.byNode()[n] {
			sum += seen.use[i]
		}
		return sum / float64(c.servers(n)[0])
	}
	mean := 0.0
	for n := range c.nodes {
		mean += busy(n) / float64(len(c.nodes))
	}
	for _, limit := range []int{0, 2} {
		evicted, err := (&descheduler{program: *program, thresholds: deviations, limit: limit}).evict(t.Context(), c, seen.use)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(evicted)
		if len(evicted) == 0 || limit > 0 && len(evicted) > limit || len(slices.Compact(slices.Clone(evicted))) < len(evicted) {
			t.Errorf("pods %v are evicted, with a limit of %d", evicted, limit)
		}
		for _, i := range evicted {
			if use := busy(c.at[i]); use < mean+0.1 {
				t.Errorf("pod %d is evicted from a node that is busy for %.2f, where the mean is %.2f", i, use, mean)
			}
		}
	}
}
