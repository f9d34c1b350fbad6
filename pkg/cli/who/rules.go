package who

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/pkg/admission"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/workloads"
)

// advised returns the rules by which changes are proposed to people, given the objects that decide whether pods may be disrupted: a pod of
// any workload may move, also the only replica, which people can judge.
func advised(in *disruption.Input, pods []corev1.Pod, now time.Time) (*disruption.Rules, error) {
	all := *in
	all.Pods, all.Now, all.Allowed = pods, now, sets.New[string]()
	for i := range pods {
		all.Allowed.Insert(workloads.Of(&pods[i]))
	}
	return disruption.New(&all)
}

// admit has plans leave out what the API server would refuse, given the objects that bound the resources of pods.
func (s *seen) admit(in *admission.Input, now time.Time) error {
	all := *in
	all.Pods, all.Now = s.in.Pods, now
	rules, err := admission.New(&all)
	if err != nil {
		return err
	}
	s.options.Admission = rules
	return nil
}

// promise has plans keep what profiles promise, as far as the scheduler lets that count that has no configuration of its own.
func (s *seen) promise(namespaces []corev1.Namespace) error {
	var scheduler *deployed.SchedulerConfig
	args, err := scheduler.Args("")
	if err != nil {
		return err
	}
	s.options.Promise = plan.Promises(s.workloads, namespaces, args.Limits)
	return nil
}
