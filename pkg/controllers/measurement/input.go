package measurement

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/profile"
)

// input is what a plan depends on.
type input struct {
	profile  *v1alpha1.WorkloadProfile
	settings *settings
	probes   *probejob.Settings
	// template is that of the target's pods; nil without a target. Where Jobs cannot be
	// made from it, noTemplate says why.
	template   *corev1.PodTemplateSpec
	noTemplate string
	// nodes are those that the spec chooses, by name.
	nodes []*node
	// taken are nodes where others measure, and full is true where others measure on as
	// many as is allowed at once.
	taken sets.Set[string]
	full  bool
	// yields is true where another namespace should have the nodes of the measurement.
	yields bool
	// measurements are the results of classes that there are.
	measurements []v1alpha1.MeasuredVector
	// questions are what is asked about the classes of the nodes, none while there is
	// no template.
	questions map[string]string
	// followers are the running pods that follow the profile.
	followers map[types.UID]bool
	// steps are those of the current round, and at the index of the current one, -1 if
	// the round has no such step. Its runs are set if there is one.
	steps []step
	at    int
	runs  []run
	// jobs are those of the profile, and outcomes are those of the current step's
	// Jobs, by name.
	jobs     []batchv1.Job
	outcomes map[string]probejob.Outcome
	memory   memory
	now      metav1.Time
}

// current returns the current step.
func (in *input) current() *step { return &in.steps[in.at] }

// node returns a node by name, nil if it is not there or not chosen.
func (in *input) node(name string) *node {
	i := slices.IndexFunc(in.nodes, func(n *node) bool { return n.name() == name })
	if i < 0 {
		return nil
	}
	return in.nodes[i]
}

// job returns a Job of the profile by name, nil if it is not there.
func (in *input) job(name string) *batchv1.Job {
	i := slices.IndexFunc(in.jobs, func(j batchv1.Job) bool { return j.Name == name })
	if i < 0 {
		return nil
	}
	return &in.jobs[i]
}

// classes returns the classes of the nodes that can be measured on, in order.
// Without a target these are the classes of the nodes where the workload runs.
func (in *input) classes() []string {
	classes := sets.New[string]()
	for _, n := range in.nodes {
		if ok, _ := n.usable(); ok && (in.settings.target != nil || n.followers > 0) {
			classes.Insert(n.class)
		}
	}
	return sets.List(classes)
}

// covered returns the classes that the condition is about, in order: those that can be
// measured on, and those whose result stays in use while none of their nodes can be, such
// as one that is down, or that was removed as the last of those chosen.
func (in *input) covered(all []v1alpha1.MeasuredVector) []string {
	classes := sets.New(in.classes()...)
	for i := range all {
		class := all[i].NodeProfile
		if len(in.nodes) == 0 || slices.ContainsFunc(in.nodes, func(n *node) bool { return n.class == class }) {
			classes.Insert(class)
		}
	}
	return sets.List(classes)
}

// result returns what was measured of a class, nil for nothing.
func (in *input) result(class string) *v1alpha1.MeasuredVector {
	all := in.measurements
	i := slices.IndexFunc(all, func(m v1alpha1.MeasuredVector) bool { return m.NodeProfile == class })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// whole reports whether a result has all resources that are asked for, precisely enough to
// be used.
func (in *input) whole(m *v1alpha1.MeasuredVector) bool {
	return m != nil && profile.TooWide(m) == "" && !slices.ContainsFunc(in.settings.resources, func(r probed) bool {
		return !slices.ContainsFunc(m.Resources, func(l v1alpha1.MeasuredLoading) bool { return l.Name == r.Name })
	})
}

// expires returns when a result gets stale.
func (in *input) expires(m *v1alpha1.MeasuredVector) time.Time { return m.Time.Add(in.settings.valid) }

// allFresh reports whether there are classes, and all of them have results that hold.
func (in *input) allFresh(classes []string) bool {
	return len(classes) > 0 && !slices.ContainsFunc(classes, func(class string) bool { return !in.fresh(class) })
}

// fresh reports whether the result of a class answers the question about it, and is not
// too old. Any result answers a question that is not known.
func (in *input) fresh(class string) bool {
	m, question := in.result(class), in.questions[class]
	return in.whole(m) && (question == "" || m.Question == question) && in.now.Time.Before(in.expires(m))
}
