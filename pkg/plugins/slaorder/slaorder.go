// Package slaorder is the scheduler plugin that orders the pods that wait to be
// scheduled by the response times that their WorkloadProfiles promise.
//
// # The order
//
// A pod of a higher Kubernetes priority goes first. Among pods of one priority the
// classes are ordered, a class being the pods that follow one WorkloadProfile with an
// sla.responseTimeMillis, by one of two disciplines of Hu, Wong, Iszlai and Litoiu,
// "Resource provisioning for cloud computing", CASCON 2009:
//
//	HOL   the class with the larger G(SLA) first (section 4.1): see
//	      [sizing.Class.MeanServers]. A class whose SLA no number of servers meets goes
//	      before all others, one without a neutral time after those that have one.
//	PDP   the class with the larger P = y − τ first (section 4.2), y being the
//	      probability of its SLA and τ the fraction of its pods that ended within the
//	      time of it. A class of which no pod has ended has P = 0: nothing is known
//	      against it.
//
// Pods without such a promise come last. Pods of one class, and of classes that are
// equal, go in the order in which they were first queued. A group that kube-scheduler places
// as a whole has a priority of its own, and goes by the class of the first of its pods that wait.
//
// # Waiting
//
// Time is divided into rounds of maxWaitSeconds. A pod belongs to the round of its last
// attempt, or in which it was queued if there was none; one that had waited
// maxWaitSeconds by then is overdue, and belongs to the round in which it became so.
// Rounds are taken in their order, and in each round the overdue pods first, in the
// order in which they were queued. It follows, among pods of one priority, for a pod X
// that was first queued at t:
//
//   - no pod that is first queued at t + 2·maxWaitSeconds or later goes before X;
//   - once X is overdue, no pod that is first queued at t + maxWaitSeconds or later does.
//
// Pods that back off, are gated, or wait for an event that may make them schedulable are
// not in the active queue: the order is that of the pods which are.
//
// # The heap
//
// kube-scheduler keeps pods in a binary heap, which compares a pod only when that pod or
// one on its path is added, changed or removed. Priority, round and the order of overdue
// pods never change while a pod is in the heap, so that the heap is always in order of
// these, and the bounds above hold. The order of classes within a round is that of the
// moment, and may change while pods are in the heap: a pod may then be taken later than
// by the discipline, but never out of its round. Every comparison is lexicographic in
// numbers of either pod, so at each moment it is a strict weak order. Where a cluster is
// full, all pods that may now fit come back into the heap whenever a pod ends, and are
// ordered anew.
//
// Less takes no lock and allocates nothing. A pod's class is found when an informer sees
// the pod, and again, within a second, when a profile of its namespace changes: however often
// that is, pods of other namespaces are left alone.
package slaorder

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/profile"
)

// Name is the plugin's name in a scheduler configuration.
const Name = "SLAOrder"

// Order is the plugin. See the package comment.
type Order struct {
	rounds  rounds
	classes *classes
	waiting *waitingPods
	clock   clock.WithTicker
}

var _ fwk.QueueSortPlugin = &Order{}

// New returns the plugin for a scheduler, which reads profiles and pods from the
// scheduler's API server. It waits for the profiles, and for the pods that have ended, for
// as long as the arguments say, and begins without them if they do not come.
//
// kube-scheduler makes a plugin for each of its profiles, and sorts by that of the first.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, err := config.LoadSLAOrderArgs(obj)
	if err != nil {
		return nil, err
	}
	registerMetrics()
	log := klog.FromContext(ctx).WithName(Name)
	index := profile.NewIndex(nil, log)
	profilesRead, err := index.Watch(ctx, handle.KubeConfig())
	if err != nil {
		return nil, err
	}
	o := newOrder(args, index, handle.ProfileName(), clock.RealClock{})
	if _, err := handle.SharedInformerFactory().Core().V1().Pods().Informer().AddEventHandler(o.waiting); err != nil {
		return nil, fmt.Errorf("watching the pods that wait: %w", err)
	}
	ended, endedRead, err := newEndedInformer(handle.ClientSet(), o.classes)
	if err != nil {
		return nil, fmt.Errorf("watching the pods that end: %w", err)
	}
	go o.run(ctx)
	go func() { // without profiles, pods that have ended belong to no class
		if cache.WaitForCacheSync(ctx.Done(), profilesRead...) {
			o.update()
			ended.RunWithContext(ctx)
		}
	}()
	waiting, cancel := context.WithTimeout(ctx, time.Duration(args.SyncTimeoutSeconds)*time.Second)
	defer cancel()
	if !cache.WaitForCacheSync(waiting.Done(), append(profilesRead, endedRead)...) {
		log.Error(nil, "The profiles and the pods that have ended were not read in time; they count from when they are", "syncTimeoutSeconds", args.SyncTimeoutSeconds)
	}
	return o, nil
}

func newOrder(args *config.SLAOrderArgs, index *profile.Index, schedulerName string, clk clock.WithTicker) *Order {
	maxWait := time.Duration(args.MaxWaitSeconds) * time.Second
	known := newClasses(args.Discipline, time.Duration(args.WindowSeconds)*time.Second, index, clk)
	return &Order{
		rounds:  rounds{begin: clk.Now(), length: maxWait},
		classes: known,
		waiting: newWaitingPods(known, schedulerName, maxWait, clk),
		clock:   clk,
	}
}

// Name returns the plugin's name.
func (*Order) Name() string { return Name }

// run keeps the classes and the metrics up to date until the context ends.
func (o *Order) run(ctx context.Context) {
	updates, reports := o.clock.NewTicker(time.Second), o.clock.NewTicker(reportInterval)
	defer updates.Stop()
	defer reports.Stop()
	o.waiting.report()
	for {
		select {
		case <-ctx.Done():
			return
		case <-updates.C():
			o.update()
		case <-reports.C():
			o.waiting.report()
		}
	}
}

// update takes in changes of profiles, and moves the windows of the classes.
func (o *Order) update() {
	if changed := o.classes.refresh(); len(changed) > 0 {
		o.waiting.classify(changed)
	}
	o.classes.advance()
}

// Less reports whether a pod or a group of pods, a, is to be scheduled before another one, b. See the package comment for the order.
func (o *Order) Less(a, b fwk.QueuedEntityInfo) bool {
	if p, q := a.GetPriority(), b.GetPriority(); p != q {
		return p > q
	}
	turnA, turnB := o.rounds.turnOf(a), o.rounds.turnOf(b)
	switch {
	case turnA.round != turnB.round:
		return turnA.round < turnB.round
	case turnA.overdue != turnB.overdue:
		return turnA.overdue
	case !turnA.overdue:
		if classA, classB := o.classOf(first(a)), o.classOf(first(b)); classA != classB {
			if u, v := classA.urgency(), classB.urgency(); u != v {
				return u > v
			}
		}
	}
	return turnA.queued < turnB.queued
}

// first returns a pod itself, or the first of a group that is placed as a whole, by whose class all of it goes; nil if there is none.
func first(queued fwk.QueuedEntityInfo) *corev1.Pod {
	switch queued := queued.(type) {
	case *framework.QueuedPodInfo:
		return queued.Pod
	case *framework.QueuedPodGroupInfo:
		if members := queued.GetUnscheduledPods(); len(members) > 0 {
			return members[0]
		}
	}
	return nil
}

// classOf returns the class of a pod that waits, nil if it has none.
func (o *Order) classOf(pod *corev1.Pod) *class {
	if pod == nil {
		return nil
	}
	if w := o.waiting.get(pod.UID); w != nil {
		return w.class
	}
	return o.classes.of(pod) // no informer event of the pod has come yet
}
