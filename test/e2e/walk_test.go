//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/test/live"
)

// moment is when something happens to a measurement: which of its pods run.
type moment string

// The moments of a round.
const (
	alone     moment = "the target runs alone"
	probing   moment = "the probe runs alone"
	besideOne moment = "the target runs beside the probe"
)

// blow is something that happens to a measurement.
type blow string

// The blows.
const (
	managerDies   blow = "the manager dies"
	targetDeleted blow = "the target's pod is deleted"
	probeDeleted  blow = "the probe's pod is deleted"
	kubeletDies   blow = "the kubelet dies and comes back"
	nodeDies      blow = "the node is without power for as long as it takes"
)

// walk is what happens, each once, in this order where the moment is the same.
var walk = []struct {
	round int32
	when  moment
	what  blow
}{
	{1, alone, targetDeleted},
	{1, alone, managerDies},
	{1, probing, probeDeleted},
	{1, probing, kubeletDies},
	{1, besideOne, targetDeleted},
	{1, besideOne, managerDies},
	{2, alone, kubeletDies},
	{2, probing, managerDies},
	{2, besideOne, probeDeleted},
	{2, besideOne, nodeDies},
	{2, besideOne, kubeletDies},
}

func TestAMeasurementOutlivesWhatHappensAtEachOfItsSteps(t *testing.T) {
	t.Parallel()
	node := reserve(t, 0)[0]
	namespace := cluster.NewNamespace(t)
	cluster.CronJob(t, namespace, "report", cluster.HalfBusy(cluster.Speed(t, namespace, node), int(shortWhile/live.PerRound)))
	profile := live.ProfileOf(namespace, "report", node)
	must(t, cluster.Create(t.Context(), profile))

	happened := make([]bool, len(walk))
	cluster.AwaitResult(t, profile, func() {
		now := momentOf(t, profile)
		for i, event := range walk {
			if m := profile.Status.Measuring; m == nil || happened[i] || event.round != *m.Round || event.when != now {
				continue
			}
			if needsNode(event.what) && *nodeCommand == "" {
				continue
			}
			happened[i] = true
			t.Logf("round %d, %s: %s", event.round, event.when, event.what)
			strike(t, event.what, profile)
			return
		}
	})
	live.CheckMeasured(t, profile, node)
	cluster.AwaitNothingLeft(t, profile.UID)
	for i, event := range walk {
		t.Run(fmt.Sprintf("round %d, %s: %s", event.round, event.when, event.what), func(t *testing.T) {
			t.Parallel()
			switch {
			case needsNode(event.what) && *nodeCommand == "":
				t.Skip(noNodeCommand)
			case !happened[i]:
				t.Error("the moment never came")
			}
		})
	}
}

func TestAMeasurementGoesOnElsewhereWhenItsNodeDisappears(t *testing.T) {
	t.Parallel()
	if *nodeCommand == "" {
		t.Skip(noNodeCommand)
	}
	nodes := reserve(t, 0, 1)
	namespace := cluster.NewNamespace(t)
	cluster.CronJob(t, namespace, "report", cluster.HalfBusy(cluster.Speed(t, namespace, nodes[1]), int(shortWhile/live.PerRound)))
	profile := live.ProfileOf(namespace, "report", nodes...)
	must(t, cluster.Create(t.Context(), profile))
	gone := ""
	cluster.AwaitResult(t, profile, func() {
		if gone != "" || momentOf(t, profile) != alone {
			return
		}
		gone = profile.Status.Measuring.Node
		onNodes(t, "stop", gone)
		t.Cleanup(func() { onNodes(t, "start", gone) })
		must(t, cluster.Delete(t.Context(), live.Node(gone)))
	})
	if gone == "" {
		t.Fatal("no target ran")
	}
	other := nodes[0]
	if gone == other {
		other = nodes[1]
	}
	live.CheckMeasured(t, profile, other)
	cluster.AwaitNothingLeft(t, profile.UID)
}

func TestAMeasurementGoesWithItsProfile(t *testing.T) {
	t.Parallel()
	node := reserve(t, 1)[0]
	namespace := cluster.NewNamespace(t)
	cluster.CronJob(t, namespace, "report", cluster.ProbeSpec("sink", "--listen", ":7070"))
	profile := live.ProfileOf(namespace, "report", node)
	must(t, cluster.Create(t.Context(), profile))
	cluster.Await(t, "the target runs", profile, func() (bool, string) { return momentOf(t, profile) == alone, live.Stand(profile) })
	must(t, cluster.Delete(t.Context(), profile))
	cluster.AwaitNothingLeft(t, profile.UID)
}

// momentOf tells which pods of a measurement run just now, "" for no moment that
// matters. A pod that is being deleted counts as none.
func momentOf(t *testing.T, profile *v1alpha1.WorkloadProfile) moment {
	t.Helper()
	if profile.Status.Measuring == nil {
		return ""
	}
	probe, target := running(t, profile, true), running(t, profile, false)
	switch {
	case profile.Status.Measuring.Step == "alone" && target != nil && probe == nil:
		return alone
	case profile.Status.Measuring.Step == "beside-cpu" && probe != nil && target == nil:
		return probing
	case profile.Status.Measuring.Step == "beside-cpu" && probe != nil && target != nil:
		return besideOne
	default:
		return ""
	}
}

// running returns the pod of a measurement that runs the probe, or the one that runs
// the target, nil for none.
func running(t *testing.T, profile *v1alpha1.WorkloadProfile, probe bool) *corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	must(t, cluster.List(t.Context(), &pods, client.InNamespace(profile.Namespace), client.MatchingLabels{probejob.MeasurementKey: string(profile.UID)}))
	i := slices.IndexFunc(pods.Items, func(pod corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp.IsZero() && (pod.Spec.Containers[0].Name == probejob.ProbeContainer) == probe
	})
	if i < 0 {
		return nil
	}
	return &pods.Items[i]
}

func needsNode(what blow) bool { return what == kubeletDies || what == nodeDies }

// strike has something happen to a measurement, and returns when all but the
// measurement is well again.
func strike(t *testing.T, what blow, profile *v1alpha1.WorkloadProfile) {
	t.Helper()
	node := profile.Status.Measuring.Node
	switch what {
	case managerDies:
		pods, err := cluster.PodsOf(t.Context(), *operator, manager)
		must(t, err)
		for i := range pods {
			must(t, cluster.Delete(t.Context(), &pods[i], client.GracePeriodSeconds(0)))
		}
	case targetDeleted, probeDeleted:
		pod := running(t, profile, what == probeDeleted)
		if pod == nil {
			t.Fatalf("%s: it has just ended by itself", what)
		}
		must(t, cluster.Delete(t.Context(), pod))
	case kubeletDies:
		onNodes(t, "kill-kubelet", node)
		onNodes(t, "start", node)
	case nodeDies:
		onNodes(t, "stop", node)
		t.Cleanup(func() { onNodes(t, "start", node) }) // does nothing where it runs
		awaitReason(t, profile, v1alpha1.ReasonNoNode)
		onNodes(t, "start", node)
	}
}

// awaitReason waits until the condition Measured has a reason.
func awaitReason(t *testing.T, profile *v1alpha1.WorkloadProfile, reason string) {
	t.Helper()
	cluster.Await(t, "the reason is "+reason, profile, func() (bool, string) {
		c := live.MeasuredBy(profile)
		return c != nil && c.Reason == reason, live.Stand(profile)
	})
	t.Log(live.Stand(profile))
}
