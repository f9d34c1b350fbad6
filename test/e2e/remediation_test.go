//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

// remedied is how many changes of each kind are awaited. Ten take an hour.
var remedied = flag.Int("remedied", 1, "how many changes of each kind the test of remediation awaits; with 10 or more it judges by how much they differ from what was predicted")

const (
	// enoughToJudge is how many changes of a kind it takes to say how far predictions are off, and offAtMost how far the median of the
	// ratios of realized and predicted wins may be from 1.
	enoughToJudge = 10
	offAtMost     = 0.15
)

// remedy is a kind of change, and pods that need one.
type remedy struct {
	name  string
	allow []string
	// places are the workers that its pods run on.
	places []int
	// slowed makes pods that slow each other down, or themselves, for the round of a number.
	slowed func(t *testing.T, namespace string, nodes []string, speed float64, round int)
	// done reports whether the pods are as the change says.
	done func(t *testing.T, r *v1alpha1.Remediation, nodes []string) error
}

// won is what a change has won.
type won struct {
	kind, change         string
	predicted            float64
	realized, low, high  float64
	ratio                float64
	predictLow, predHigh float64
}

// Pods that are held back by their limits, by their requests and by each other are helped by a policy that needs no approval: the change
// is made, stays and wins about what was predicted.
func TestChangesThatAreMadeWinWhatTheyPromise(t *testing.T) { //nolint:tparallel // one kind of load at a time
	t.Parallel()
	if !remediates(t) {
		t.Skip("the manager runs without --remediation (apply config/remediation)")
	}
	var all []won
	for _, kind := range []remedy{
		{name: "limit", allow: []string{v1alpha1.ActionRaiseLimit}, places: []int{0}, slowed: throttled, done: resized},
		{name: "request", allow: []string{v1alpha1.ActionRaiseRequest, v1alpha1.ActionLowerRequest}, places: []int{0}, slowed: outweighed, done: resized},
		{name: "move", allow: []string{v1alpha1.ActionMove}, places: []int{0, 1}, slowed: crowded, done: landed},
	} {
		t.Run(kind.name, func(t *testing.T) { //nolint:paralleltest // one kind of load at a time
			policy := policyOf(t, &kind)
			var wins []won
			for round := range *remedied {
				t.Run(strconv.Itoa(round+1), func(t *testing.T) { //nolint:paralleltest // as above
					if w := kind.once(t, policy, round); w != nil {
						wins = append(wins, *w)
					}
				})
			}
			all = append(all, wins...)
			judgeRatios(t, wins)
		})
	}
	t.Logf("what changes won that were made without approval:\n%s", table(all))
}

// remediates reports whether the manager carries out RemediationPolicies.
func remediates(t *testing.T) bool {
	t.Helper()
	var deployment appsv1.Deployment
	must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: *operator, Name: manager}, &deployment))
	return slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, "--remediation")
}

// remedyLabel is the label of namespaces by which a policy chooses them: its value is the kind of change.
const remedyLabel = "e2e.loadline.dev/remedy"

// policyOf makes a policy that has changes of a kind made without approval, one at a time, in the namespaces with the label of the kind.
func policyOf(t *testing.T, kind *remedy) *v1alpha1.RemediationPolicy {
	t.Helper()
	one := int32(1)
	policy := &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-" + kind.name + "-"},
		Spec: v1alpha1.RemediationPolicySpec{
			Mode: v1alpha1.RemediationAutomatic, Allow: kind.allow, Above: new(resource.MustParse("1.1")),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{remedyLabel: kind.name}},
			Budget:            &v1alpha1.RemediationBudget{AtOnce: &one, PerNode: &one, PerWorkload: &one, PerNamespace: &one, PerHour: new(int32(max(2, *remedied)))},
			MinPodAgeSeconds:  new(int32(30)), ObserveSeconds: new(int32(60)),
		},
	}
	cluster.Make(t, policy)
	cluster.AwaitCondition(t, policy, &policy.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue)
	return policy
}

// once has pods helped by one change, and returns what it won; nil where it was not judged, which is an error.
func (k *remedy) once(t *testing.T, policy *v1alpha1.RemediationPolicy, round int) *won {
	t.Helper()
	nodes := reserve(t, k.places...)
	namespace := cluster.NewNamespace(t)
	speed := cluster.Speed(t, namespace, nodes[0])
	k.slowed(t, namespace, nodes, speed, round)
	label := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, remedyLabel, k.name)
	must(t, cluster.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, client.RawPatch(types.MergePatchType, []byte(label))))

	r := awaitComplete(t, namespace, policy.Name)
	complete := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionComplete)
	t.Logf("%s: %s: %s: %s", r.Name, r.Status.Change, complete.Reason, complete.Message)
	t.Logf("dilations were predicted to be %s; in the last minute that was collected, which may begin before the change, they are %s", predictions(r), dilations(t, namespace))
	if !slices.Contains(k.allow, r.Spec.Change.Action) {
		t.Errorf("the change is %s, and the policy allows %v", r.Spec.Change.Action, k.allow)
	}
	if r.Status.Realized == nil {
		t.Errorf("the change of %s was not judged: %s: %s", r.Spec.Pod.Name, complete.Reason, complete.Message)
		return nil
	}
	w := wonBy(k.name, r)
	switch stays := complete.Reason != v1alpha1.ReasonRolledBack; {
	case stays && w.realized < 0:
		t.Errorf("the change made the cluster worse by %.2f (%.2f to %.2f) and stays: %s", -w.realized, -w.high, -w.low, complete.Message)
	case complete.Reason != v1alpha1.ReasonSucceeded:
		t.Logf("the change did not win: %s", complete.Message)
	default:
		if err := k.done(t, r, nodes); err != nil {
			t.Error(err)
		}
	}
	return &w
}

// predictions writes of which pods a change was predicted to change the dilations.
func predictions(r *v1alpha1.Remediation) string {
	var all []string
	for _, p := range r.Spec.Prediction.Pods {
		all = append(all, fmt.Sprintf("%s %.2f → %.2f", p.Name, p.Now.AsApproximateFloat64(), p.Then.AsApproximateFloat64()))
	}
	return strings.Join(all, ", ")
}

// dilations writes those of the pods of a namespace in the last minute that was collected.
func dilations(t *testing.T, namespace string) string {
	t.Helper()
	var all []string
	for _, p := range live.Who(t, namespace).Pods {
		if name, is := strings.CutPrefix(p.Pod, namespace+"/"); is {
			all = append(all, fmt.Sprintf("%s %.2f ± %.2f", name, p.Dilation, p.DilationError))
		}
	}
	return strings.Join(all, ", ")
}

// awaitComplete waits until a change of the policy in a namespace is complete, and returns it: of several the first that was started.
func awaitComplete(t *testing.T, namespace, policy string) *v1alpha1.Remediation {
	t.Helper()
	var complete *v1alpha1.Remediation
	live.Until(t, "a change in "+namespace+" to be complete", live.LongPatience, func(ctx context.Context) (bool, string, error) {
		var list v1alpha1.RemediationList
		if err := cluster.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return false, "", err
		}
		stand := "no change is proposed"
		for i := range list.Items {
			r := &list.Items[i]
			c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionComplete)
			if c == nil {
				continue
			}
			stand = fmt.Sprintf("%s: %s: %s: %s", r.Name, r.Status.Change, c.Reason, c.Message)
			if r.Spec.Policy == policy && c.Status == metav1.ConditionTrue && r.Status.StartTime != nil {
				complete = r
				return true, "", nil
			}
		}
		return false, stand, nil
	})
	return complete
}

// wonBy returns what a change has won.
func wonBy(kind string, r *v1alpha1.Remediation) won {
	p, is := &r.Spec.Prediction, r.Status.Realized
	w := won{
		kind: kind, change: r.Status.Change, predicted: p.Win.AsApproximateFloat64(), predictLow: p.Low.AsApproximateFloat64(), predHigh: p.High.AsApproximateFloat64(),
		realized: is.Win.AsApproximateFloat64(), low: is.Low.AsApproximateFloat64(), high: is.High.AsApproximateFloat64(),
	}
	w.ratio = w.realized / w.predicted
	return w
}

// judgeRatios fails the test where nothing was won, or predictions are too far off.
func judgeRatios(t *testing.T, wins []won) {
	t.Helper()
	if !slices.ContainsFunc(wins, func(w won) bool { return w.realized > 0 }) {
		t.Error("no change won anything")
		return
	}
	if m := medianRatio(wins); len(wins) >= enoughToJudge && !(math.Abs(m-1) <= offAtMost) {
		t.Errorf("the median of realized over predicted wins is %.2f, want 1 ± %g", m, offAtMost)
	}
}

// medianRatio returns the median of the ratios of realized and predicted wins.
func medianRatio(wins []won) float64 {
	ratios := make([]float64, len(wins))
	for i := range wins {
		ratios[i] = wins[i].ratio
	}
	slices.Sort(ratios)
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}

// table writes what changes won, with the median of each kind.
func table(wins []won) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\tpredicted\trealized\tratio\tchange")
	for i, c := range wins {
		fmt.Fprintf(w, "%s\t%.2f (%.2f to %.2f)\t%.2f (%.2f to %.2f)\t%.2f\t%s\n", c.kind, c.predicted, c.predictLow, c.predHigh, c.realized, c.low, c.high, c.ratio, c.change)
		if i+1 == len(wins) || wins[i+1].kind != c.kind {
			of := slices.DeleteFunc(slices.Clone(wins), func(other won) bool { return other.kind != c.kind })
			fmt.Fprintf(w, "%s\t\t\t%.2f\tthe median of %d\n", c.kind, medianRatio(of), len(of))
		}
	}
	_ = w.Flush()
	return text.String()
}

// Loads differ between rounds, so that a round is not the one before once more.

// throttled makes a pod whose limit holds its bursts back. The last period of a burst is not quite used up: a burst that took a little longer
// would else need one more.
func throttled(t *testing.T, namespace string, nodes []string, speed float64, round int) {
	t.Helper()
	limits := []string{"230m", "260m", "190m", "210m"}
	pod := requesting(loadPod(namespace, "api", nodes[0], speed, 60*time.Millisecond, 240*time.Millisecond), "100m", limits[round%len(limits)])
	runsThere(t, pod)
}

// outweighed makes two pods, of which the one with the much smaller request computes half of its time, and the other one always.
func outweighed(t *testing.T, namespace string, nodes []string, speed float64, round int) {
	t.Helper()
	requests := []string{"50m", "80m", "60m", "100m"}
	cart := requesting(loadPod(namespace, "cart", nodes[0], speed, 20*time.Millisecond, 20*time.Millisecond), requests[round%len(requests)], "")
	sort := requesting(cluster.ProbePod(namespace, "sort", nodes[0], "run", "--job", "cpu", "--duration", "1h"), "400m", "")
	for _, pod := range []*corev1.Pod{cart, sort} {
		runsThere(t, pod)
	}
}

// crowded makes a service with two replicas on the first node, which slow each other down, while the second one is empty.
func crowded(t *testing.T, namespace string, nodes []string, speed float64, round int) {
	t.Helper()
	busy := []time.Duration{28 * time.Millisecond, 24 * time.Millisecond, 32 * time.Millisecond, 20 * time.Millisecond}[round%4]
	spec := loadPod(namespace, "web", nodes[0], speed, busy, 40*time.Millisecond-busy, "--distribution", "exponential", "--seed", strconv.Itoa(round+1)).Spec
	spec.RestartPolicy, spec.SchedulerName, spec.TerminationGracePeriodSeconds = corev1.RestartPolicyAlways, "loadline", new(int64(1))
	spec.Affinity = onOneOf(nodes)
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: spec},
		},
	}
	cordon(t, nodes[1], true)
	t.Cleanup(func() { cordon(t, nodes[1], false) })
	must(t, cluster.Create(t.Context(), web))
	cluster.Await(t, "the service runs", web, func() (bool, string) {
		return web.Status.AvailableReplicas == 2, fmt.Sprintf("%d replicas are available", web.Status.AvailableReplicas)
	})
	cordon(t, nodes[1], false)
}

// cordon has a node take no more pods, or take pods again.
func cordon(t *testing.T, node string, closed bool) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, closed)
	if err := cluster.Patch(context.WithoutCancel(t.Context()), live.Node(node), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Error(err)
	}
}

// onOneOf says that a pod must run on one of some nodes.
func onOneOf(nodes []string) *corev1.Affinity {
	affinity := live.OnNode(nodes[0])
	terms := &affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for _, node := range nodes[1:] {
		*terms = append(*terms, live.OnNode(node).NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms...)
	}
	return affinity
}

// loadPod returns a pod that computes and idles in turn for longer than a round of the test.
func loadPod(namespace, name, node string, speed float64, busy, idle time.Duration, more ...string) *corev1.Pod {
	const alone = 55 * time.Minute
	args := append([]string{
		"load", "--demand", "cpu=" + busy.String(), "--idle", idle.String(), "--rounds", strconv.Itoa(int(alone / (busy + idle))),
		"--units-per-second", fmt.Sprintf("cpu=%g", speed),
	}, more...)
	return cluster.ProbePod(namespace, name, node, args...)
}

// runsThere creates a pod and returns when it runs.
func runsThere(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	must(t, cluster.Create(t.Context(), pod))
	cluster.Await(t, "pod "+pod.Name+" runs", pod, func() (bool, string) { return pod.Status.Phase == corev1.PodRunning, live.State(pod) })
}

// resized says where the container of a change does not have what it was given, by the pod and by its kubelet.
func resized(t *testing.T, r *v1alpha1.Remediation, _ []string) error {
	t.Helper()
	pod := &corev1.Pod{}
	must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: r.Namespace, Name: r.Spec.Pod.Name}, pod))
	if string(pod.UID) != r.Spec.Pod.UID || pod.Status.ContainerStatuses[0].RestartCount != 0 {
		return fmt.Errorf("pod %s was not resized in place: UID %s, %d restarts", pod.Name, pod.UID, pod.Status.ContainerStatuses[0].RestartCount)
	}
	for _, has := range []*corev1.ResourceRequirements{&pod.Spec.Containers[0].Resources, pod.Status.ContainerStatuses[0].Resources} {
		for list, to := range map[*corev1.ResourceList]*v1alpha1.CPUChange{&has.Requests: r.Spec.Change.Request, &has.Limits: r.Spec.Change.Limit} {
			if to != nil && list.Cpu().Cmp(*to.To) != 0 {
				return fmt.Errorf("pod %s has %s, want %s: %s", pod.Name, list.Cpu(), to.To, r.Status.Change)
			}
		}
	}
	return nil
}

// landed says where the pod in the place of one that was moved is not on the other node.
func landed(t *testing.T, r *v1alpha1.Remediation, nodes []string) error {
	t.Helper()
	next := r.Status.Replacement
	if next == nil || next.UID == r.Spec.Pod.UID || next.Node != nodes[1] || r.Spec.Pod.Node != nodes[0] {
		return fmt.Errorf("pod %s of %s was moved, and in its place is %+v, want one on %s", r.Spec.Pod.Name, r.Spec.Pod.Node, next, nodes[1])
	}
	pod := &corev1.Pod{}
	must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: r.Namespace, Name: next.Name}, pod))
	if pod.Spec.NodeName != next.Node || cmp.Or(string(pod.UID), "none") != next.UID {
		return fmt.Errorf("pod %s has the UID %s and is on %s, want %+v", pod.Name, pod.UID, pod.Spec.NodeName, next)
	}
	return nil
}
