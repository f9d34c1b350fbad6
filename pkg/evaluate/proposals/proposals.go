package proposals

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/text"
)

// Proposals are what becomes of a plan.
type Proposals struct {
	// Made are the Remediations that are to be created, in the order of the plan, and Withdrawn those that are no longer part of it and
	// are not started: they are to be deleted, if they are as they were read.
	Made, Withdrawn []*v1alpha1.Remediation
	// Kept is how many stay as they are.
	Kept int
	// LeftOut is how many steps of the plan are not proposed, because there would be more than [Most].
	LeftOut int
}

// Of returns the proposals of a plan that was made with the options of the round, given the cluster that it is of.
func (r *Round) Of(p *plan.Plan, c *observed.Cluster) *Proposals {
	dilations := dilationsOf(c)
	wanted := map[key]*v1alpha1.Remediation{}
	var order []*v1alpha1.Remediation
	byName := make(map[string]*corev1.Pod, len(r.Pods))
	for i := range r.Pods {
		byName[text.QualifiedName(&r.Pods[i])] = &r.Pods[i]
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		pod := byName[s.Pod]
		if pod == nil {
			continue
		}
		if of := r.propose(s, pod, dilations); of != nil {
			wanted[keyOf(of)] = of
			order = append(order, of)
		}
	}
	return r.compare(wanted, order)
}

// compare returns what has to be done for the proposals to be those that are wanted.
func (r *Round) compare(wanted map[key]*v1alpha1.Remediation, order []*v1alpha1.Remediation) *Proposals {
	done := &Proposals{Kept: len(r.frozen)}
	taken := make(map[types.NamespacedName]bool, len(r.Remediations))
	there := map[key]bool{}
	for i := range r.Remediations {
		c := &r.Remediations[i]
		taken[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}] = true
	}
	for _, all := range r.open {
		for _, c := range all {
			k := keyOf(c)
			switch {
			case r.frozen[c]:
			case wanted[k] != nil && !there[k]:
				done.Kept++
			default:
				done.Withdrawn = append(done.Withdrawn, c)
				continue
			}
			there[k] = true
		}
	}
	slices.SortFunc(done.Withdrawn, func(a, b *v1alpha1.Remediation) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, of := range order {
		if there[keyOf(of)] || r.waits(of.Spec.Pod.UID) {
			continue
		}
		if done.Kept+len(done.Made) >= Most {
			done.LeftOut++
			continue
		}
		of.Name = name(of, taken)
		done.Made = append(done.Made, of)
	}
	return done
}

// propose returns the Remediation of a step; nil where its policy does not have pods helped that are slowed down so little, or where the API
// cannot say the change.
func (r *Round) propose(s *plan.Step, pod *corev1.Pod, dilations map[string]float64) *v1alpha1.Remediation {
	p := r.policyOf(pod)
	if p == nil || p.Above > Above(r.Policies) && !helps(s, p.Above) {
		return nil
	}
	request, requests := cpuChange(s.WasRequest, s.Request)
	limit, limits := cpuChange(s.WasLimit, s.Limit)
	if !requests || !limits || (s.Action == plan.MovePod) != (s.Container == "") {
		return nil
	}
	of := &v1alpha1.Remediation{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace}}
	of.Spec = v1alpha1.RemediationSpec{
		Policy: p.Name, Pod: v1alpha1.RemediationPod{Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName},
		Change:     v1alpha1.RemediationChange{Action: actions[s.Action], Container: s.Container, Request: request, Limit: limit, ToNode: s.To},
		Prediction: prediction(s, dilations[s.Pod]),
	}
	if w := reference(pod); w.APIVersion != "" {
		of.Spec.Workload = &w
	}
	return of
}

// helps reports whether a step helps a pod that is slowed down to a dilation.
func helps(s *plan.Step, above float64) bool {
	return slices.ContainsFunc(s.Pods, func(e plan.Effect) bool { return e.Now >= above && e.Then < e.Now })
}

// mostPods is how many pods a prediction names.
const mostPods = 16

// prediction returns what a step is predicted to win, given the dilation of its pod, which counts where the step hardly changes it.
func prediction(s *plan.Step, dilation float64) v1alpha1.RemediationPrediction {
	effects := slices.Clone(s.Pods)
	own := slices.IndexFunc(effects, func(e plan.Effect) bool { return e.Pod == s.Pod })
	if own < 0 {
		effects = append(effects, plan.Effect{Pod: s.Pod, Now: dilation, Then: dilation})
	}
	slices.SortStableFunc(effects, func(a, b plan.Effect) int {
		return cmp.Or(last(a.Pod != s.Pod)-last(b.Pod != s.Pod), cmp.Compare(math.Abs(b.Now-b.Then), math.Abs(a.Now-a.Then)))
	})
	predicted := v1alpha1.RemediationPrediction{
		Win: quantity(s.Win.Value), Low: quantity(s.Win.Low), High: quantity(s.Win.High),
	}
	for _, e := range effects[:min(len(effects), mostPods)] {
		namespace, name, _ := strings.Cut(e.Pod, "/")
		predicted.Pods = append(predicted.Pods, v1alpha1.PredictedPod{
			Namespace: namespace, Name: name, Now: quantity(max(1, e.Now)), Then: quantity(max(1, e.Then)),
		})
	}
	return predicted
}

// quantity returns a number of dilations as the API takes it: a node may lie, and none is as large as the largest one.
func quantity(x float64) *resource.Quantity {
	const largest = 999_999
	return remediations.Quantity(max(-largest, min(largest, x)))
}

func last(is bool) int {
	if is {
		return 1
	}
	return 0
}

// dilationsOf returns the dilations of pods, by their names.
func dilationsOf(c *observed.Cluster) map[string]float64 {
	all := map[string]float64{}
	for _, n := range c.Nodes {
		for _, p := range n.Pods {
			all[p.Name()] = p.Dilation
		}
	}
	return all
}
