package admission

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiserver "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	conversion "k8s.io/kubernetes/pkg/apis/core/v1"
	evaluators "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/node"
)

// Input is what the rules depend on. Its objects must not change while they are in use.
type Input struct {
	// LimitRanges and Quotas are all of them.
	LimitRanges []corev1.LimitRange
	Quotas      []corev1.ResourceQuota
	// Pods are all pods of the cluster: what they use of a quota without a status, as in a file, is computed.
	Pods []corev1.Pod
	// Now is the time of the question: pods that should have ended by then use nothing.
	Now time.Time
}

// Rules are those of a cluster. They are a [node.Admission].
type Rules struct {
	evaluator quota.Evaluator
	ranges    map[string][]*corev1.LimitRange   // by their namespaces
	quotas    map[string][]corev1.ResourceQuota // likewise
}

var _ node.Admission = &Rules{}

// New returns the rules. An error is one of the evaluator, and names the ResourceQuota and the pod.
func New(in *Input) (*Rules, error) {
	r := &Rules{
		evaluator: evaluators.NewPodEvaluator(nil, at{now: in.Now}), ranges: map[string][]*corev1.LimitRange{}, quotas: map[string][]corev1.ResourceQuota{},
	}
	for i := range in.LimitRanges {
		l := &in.LimitRanges[i]
		r.ranges[l.Namespace] = append(r.ranges[l.Namespace], l)
	}
	for i := range in.Quotas {
		q := in.Quotas[i]
		if len(q.Status.Hard) == 0 {
			used, err := r.count(&q, in.Pods)
			if err != nil {
				return nil, err
			}
			q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: used}
		}
		r.quotas[q.Namespace] = append(r.quotas[q.Namespace], q)
	}
	return r, nil
}

// at is a clock that stands still.
type at struct {
	clock.RealClock

	now time.Time
}

func (c at) Now() time.Time { return c.now }

// count returns what pods use of a quota, as the quota controller counts it.
func (r *Rules) count(q *corev1.ResourceQuota, pods []corev1.Pod) (corev1.ResourceList, error) {
	used, hard := corev1.ResourceList{}, quota.ResourceNames(q.Spec.Hard)
	counted := *q
	counted.Status.Hard = q.Spec.Hard // which the evaluator matches pods by
	for i := range pods {
		if pods[i].Namespace != q.Namespace {
			continue
		}
		uses, err := r.uses(&counted, &pods[i])
		if err != nil {
			return nil, fmt.Errorf("ResourceQuota %s/%s: pod %s: %w", q.Namespace, q.Name, pods[i].Name, err)
		}
		used = quota.Add(used, uses)
	}
	none := corev1.ResourceList{}
	for _, name := range hard {
		none[name] = resource.Quantity{}
	}
	return quota.Add(none, used), nil
}

// uses returns what a pod uses of a quota.
func (r *Rules) uses(q *corev1.ResourceQuota, pod *corev1.Pod) (corev1.ResourceList, error) {
	if matches, err := r.evaluator.Matches(q, pod); err != nil || !matches {
		return nil, err
	}
	uses, err := r.evaluator.Usage(pod)
	return quota.Mask(uses, quota.ResourceNames(q.Status.Hard)), err
}

// Refuses says why the API server would refuse that a pod becomes another object, "" where it would not.
func (r *Rules) Refuses(from, to *corev1.Pod) string {
	if from.DeletionTimestamp == nil {
		if why := r.ranged(from, to); why != "" {
			return why
		}
	}
	if len(r.quotas[from.Namespace]) == 0 {
		return ""
	}
	_, err := resourcequota.CheckRequest(r.quotas[from.Namespace], resize(billed(from), billed(to)), r.evaluator, nil)
	return words(err)
}

// ranged says which LimitRange refuses the pod.
func (r *Rules) ranged(from, to *corev1.Pod) string {
	ranges := r.ranges[from.Namespace]
	if len(ranges) == 0 {
		return ""
	}
	pod := &core.Pod{}
	if err := conversion.Convert_v1_Pod_To_core_Pod(to.DeepCopy(), pod, nil); err != nil {
		return "the API server cannot read it: " + err.Error()
	}
	var actions limitranger.DefaultLimitRangerActions
	if !actions.SupportsAttributes(resize(from, to)) {
		return ""
	}
	for _, act := range []func(*corev1.LimitRange, string, runtime.Object) error{actions.MutateLimit, actions.ValidateLimit} {
		for _, l := range ranges {
			if err := act(l, pods, pod); err != nil {
				return fmt.Sprintf("LimitRange %s: %s", l.Name, err)
			}
		}
	}
	return defaulted(pod)
}

// defaulted says that a limit which LimitRanges give a container by default is below its request, which the API server refuses afterwards.
func defaulted(pod *core.Pod) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		request, limit := c.Resources.Requests[core.ResourceCPU], c.Resources.Limits[core.ResourceCPU]
		if !limit.IsZero() && request.Cmp(limit) > 0 {
			return fmt.Sprintf("container %s would request %s, more than its limit of %s", c.Name, request.String(), limit.String())
		}
	}
	return ""
}

// With returns the rules once a pod has become another object.
func (r *Rules) With(from, to *corev1.Pod) node.Admission {
	quotas := slices.Clone(r.quotas[from.Namespace])
	for i := range quotas {
		before, errBefore := r.uses(&quotas[i], from)
		after, errAfter := r.uses(&quotas[i], to)
		if errors.Join(errBefore, errAfter) != nil {
			continue // what it uses is not known: no resize of it was admitted
		}
		quotas[i].Status.Used = quota.Add(quotas[i].Status.Used, quota.Subtract(after, before))
	}
	next := *r
	next.quotas = maps.Clone(r.quotas)
	next.quotas[from.Namespace] = quotas
	return &next
}

const pods = "pods"

// resize returns the request that a pod becomes another object, by the subresource for that.
func resize(from, to *corev1.Pod) apiserver.Attributes {
	version := corev1.SchemeGroupVersion
	return apiserver.NewAttributesRecord(to, from, version.WithKind("Pod"), from.Namespace, from.Name, version.WithResource(pods), "resize",
		apiserver.Update, &metav1.UpdateOptions{}, false, nil)
}

// billed returns a pod that a quota bills for what it uses more than before. It bills one that is not stored yet for all.
func billed(pod *corev1.Pod) *corev1.Pod {
	if pod.ResourceVersion != "" {
		return pod
	}
	stored := *pod
	stored.ResourceVersion = "1"
	return &stored
}

// words are those in which a request is refused.
func words(err error) string {
	if err == nil {
		return ""
	}
	if _, why, found := strings.Cut(err.Error(), " is forbidden: "); found && apierrors.IsForbidden(err) {
		return why
	}
	return err.Error()
}
