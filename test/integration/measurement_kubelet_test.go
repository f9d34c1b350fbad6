package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/probe/result"
)

// hurry is how much faster time goes on the nodes of a stage than anywhere else.
const hurry = 20

// stage plays nodes with one core whose pods are probes and copies of a target that
// spends a fraction of its time at the CPU. The pods come from the real Job
// controller; the stage is their scheduler and their kubelet, and has their reports
// say what the contention model does.
type stage struct {
	*place
	loading float64
	neutral time.Duration // in the time of the nodes
	began   time.Time

	mu      sync.Mutex
	running map[string]*act // by uid of the pod
}

// act is a pod that runs.
type act struct {
	node     string
	isProbe  bool
	begin    time.Time
	takes    time.Duration // of a target, in the time of everywhere else
	dilation float64
	besides  []*act // the targets that ran beside a probe
	end      time.Time
}

// startStage makes nodes and plays them until the test ends.
func (p *place) startStage(t *testing.T, loading float64, nodes ...string) *stage {
	t.Helper()
	s := &stage{place: p, loading: loading, neutral: 20 * time.Second, began: time.Now().Add(-time.Hour), running: map[string]*act{}}
	for _, name := range nodes {
		name = p.namespace + "-" + name
		p.nodes = append(p.nodes, name)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"place": p.namespace}}}
		must(t, p.Create(t.Context(), node))
		before := node.DeepCopy()
		node.Status = corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Played", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
		}
		must(t, p.Status().Patch(t.Context(), node, client.MergeFrom(before)))
		must(t, p.beat(t.Context(), name))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if err := s.play(ctx, n); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				t.Errorf("the stage: %v", err)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return s
}

// beat renews the lease of a node.
func (p *place) beat(ctx context.Context, node string) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node}}
	now := metav1.NowMicro()
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: new(int32(40)), RenewTime: &now}
	err := p.Create(ctx, lease.DeepCopy())
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	old := &coordinationv1.Lease{}
	if err := p.Get(ctx, client.ObjectKeyFromObject(lease), old); err != nil {
		return err
	}
	after := old.DeepCopy()
	after.Spec.RenewTime = &now
	return p.Patch(ctx, after, client.MergeFrom(old))
}

// play does what scheduler and kubelets do.
func (s *stage) play(ctx context.Context, n int) error {
	var pods corev1.PodList
	if err := s.List(ctx, &pods, client.InNamespace(s.namespace), client.HasLabels{probejob.MeasurementKey}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	alive := map[string]bool{}
	for _, name := range s.nodes {
		node := &corev1.Node{}
		err := s.Get(ctx, client.ObjectKey{Name: name}, node)
		alive[name] = err == nil
		if err == nil && n%100 == 0 {
			if err := s.beat(ctx, name); err != nil {
				return err
			}
		}
	}
	for i := range pods.Items {
		if err := s.tend(ctx, &pods.Items[i], alive); err != nil {
			return err
		}
	}
	return nil
}

// tend does what a pod needs.
func (s *stage) tend(ctx context.Context, pod *corev1.Pod, alive map[string]bool) error {
	node := pod.Spec.NodeName
	switch {
	case node == "":
		node = pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
		if !alive[node] {
			return nil
		}
		return s.SubResource("binding").Create(ctx, pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}})
	case !alive[node]:
		delete(s.running, string(pod.UID))
		return nil
	case pod.DeletionTimestamp != nil:
		delete(s.running, string(pod.UID))
		return s.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	case pod.Status.Phase == corev1.PodPending:
		return s.begin(ctx, pod)
	case pod.Status.Phase == corev1.PodRunning:
		return s.goOn(ctx, pod)
	}
	return nil
}

func (s *stage) begin(ctx context.Context, pod *corev1.Pod) error {
	a := &act{node: pod.Spec.NodeName, isProbe: pod.Spec.Containers[0].Name == probejob.ProbeContainer, begin: time.Now(), dilation: 1}
	if !a.isProbe {
		for _, other := range s.running {
			if other.isProbe && other.node == a.node && other.end.IsZero() {
				a.dilation = 1 + s.loading
				other.besides = append(other.besides, a)
			}
		}
		a.takes = time.Duration(float64(s.neutral) * a.dilation / hurry)
	}
	s.running[string(pod.UID)] = a
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: "none", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	return s.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// goOn ends a target when its time has come, and a probe soon after its target.
func (s *stage) goOn(ctx context.Context, pod *corev1.Pod) error {
	a, ok := s.running[string(pod.UID)]
	now := time.Now()
	switch {
	case !ok || !a.end.IsZero():
		return nil
	case a.isProbe:
		if len(a.besides) == 0 || a.besides[0].end.IsZero() || now.Sub(a.besides[0].end) < 500*time.Millisecond {
			return nil
		}
	case now.Sub(a.begin) < a.takes:
		return nil
	}
	a.end = now
	container, message, err := s.report(a, pod)
	if err != nil {
		return err
	}
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	over := func(name, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Image: "none", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: metav1.NewTime(a.begin), FinishedAt: metav1.NewTime(now), Message: message},
		}}
	}
	if container == probejob.WatchContainer {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{over(container, message)}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{over(pod.Spec.Containers[0].Name, "")}
	} else {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{over(container, message)}
	}
	return s.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// clock returns a moment in the time of the nodes.
func (s *stage) clock(t time.Time) int64 { return t.Sub(s.began).Nanoseconds() * hurry }

// report returns what a container of a pod that ended says.
func (s *stage) report(a *act, pod *corev1.Pod) (container, message string, err error) {
	if !a.isProbe {
		begin := s.clock(a.begin)
		text, err := result.Encode(result.Watch{
			BootID: a.node, Begin: begin, End: begin + int64(float64(s.neutral)*a.dilation), Processes: 1, Complete: true,
		})
		return probejob.WatchContainer, string(text), err
	}
	const samples, speed = 200, 1000.0
	from, to := s.clock(a.begin), s.clock(a.end)
	series := result.Series{Begin: from, Interval: (to - from) / samples}
	done := 0.0
	for k := range samples + 1 {
		series.Thousandths = append(series.Thousandths, int64(done*1000))
		// Finely, so that the borders of the target's time are where they are.
		const parts = 100
		for part := range parts {
			at, slower := from+int64(k)*series.Interval+int64(part)*series.Interval/parts, 1.0
			for _, target := range a.besides {
				begin := s.clock(target.begin)
				if at >= begin && at < begin+int64(float64(s.neutral)*target.dilation) {
					slower = target.dilation
				}
			}
			done += speed / slower * float64(series.Interval) / parts / 1e9
		}
	}
	text, err := result.Encode(result.Run{
		Job: "cpu", Intensity: 1, BootID: a.node, Begin: from, Series: series, Units: uint64(done), SelfDilation: 2, Ended: result.EndedDuration,
	})
	if err != nil {
		return "", "", fmt.Errorf("the report of pod %s: %w", pod.Name, err)
	}
	return probejob.ProbeContainer, string(text), nil
}
