package slaorder

import (
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	clocktesting "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// noon is when tests begin.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// at returns the time some seconds after noon.
func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// tested is a plugin and what it depends on.
type tested struct {
	*Order
	index *profile.Index
	clock *clocktesting.FakeClock
}

// newTested returns a plugin that knows the profiles, at noon.
func newTested(d config.Discipline, maxWait, window int32, profiles ...*v1alpha1.WorkloadProfile) *tested {
	index := profile.NewIndex(nil, logr.Discard())
	for _, p := range profiles {
		index.OnAdd(p, false)
	}
	clock := clocktesting.NewFakeClock(noon)
	args := &config.SLAOrderArgs{Discipline: d, MaxWaitSeconds: maxWait, WindowSeconds: window}
	o := &tested{newOrder(args, index, "loadline", clock), index, clock}
	o.update()
	return o
}

// promising returns the profile of the pods with the label app=name, which says that they
// should end within some seconds with a probability, and take one second alone.
func promising(name string, within, probability float64) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Generation: 1},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:      &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Resources:     []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("1"))}},
			NeutralMillis: new(int64(1000)),
			SLA: &v1alpha1.SLA{
				ResponseTimeMillis: new(int64(1000 * within)),
				Probability:        new(resource.MustParse(strconv.FormatFloat(probability, 'f', -1, 64))),
			},
		},
	}
}

// pod returns a pod with a label and a priority that waits for the scheduler.
func pod(name, app string, priority int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{SchedulerName: "loadline", Priority: &priority},
	}
}

// queued returns a pod in the queue, and when it was queued and last tried, in seconds
// after noon.
func queued(pod *corev1.Pod, first, tried float64) *framework.QueuedPodInfo {
	return &framework.QueuedPodInfo{
		PodInfo:        &framework.PodInfo{Pod: pod},
		QueueingParams: framework.QueueingParams{Timestamp: at(tried), InitialAttemptTimestamp: new(at(first))},
	}
}

// queuedGroup returns a group of a priority in the queue, since some seconds after noon, and those of its pods that wait.
func queuedGroup(priority int32, first float64, pods ...*corev1.Pod) *framework.QueuedPodGroupInfo {
	return &framework.QueuedPodGroupInfo{
		PodGroupInfo: &framework.PodGroupInfo{
			Type:     fwk.PodGroupKeyType,
			PodGroup: &schedulingv1beta1.PodGroup{Spec: schedulingv1beta1.PodGroupSpec{Priority: &priority}}, UnscheduledPods: pods,
		},
		QueueingParams: framework.QueueingParams{Timestamp: at(first), InitialAttemptTimestamp: new(at(first))},
	}
}

// seen has the informer see pods, too.
func (o *tested) seen(infos ...*framework.QueuedPodInfo) {
	for _, info := range infos {
		o.waiting.OnAdd(info.Pod, false)
	}
}

// ends has pods of an app end now, some in time and some late.
func (o *tested) ends(app string, inTime, late int) {
	for i := range inTime + late {
		took := time.Millisecond
		if i >= inTime {
			took = 24 * time.Hour
		}
		o.classes.done(pod(app, app, 0), took, o.clock.Now())
	}
}

// before fails the test unless pods are in this order, whether or not the informer has
// seen them.
func (o *tested) before(t *testing.T, order ...*framework.QueuedPodInfo) {
	t.Helper()
	for range 2 {
		for i, a := range order {
			for _, b := range order[i+1:] {
				if !o.Less(a, b) || o.Less(b, a) {
					t.Errorf("%s does not go before %s", a.Pod.Name, b.Pod.Name)
				}
			}
		}
		o.seen(order...)
	}
}
