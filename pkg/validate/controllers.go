package validate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/evaluate/profiles"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/profile"
)

// askControllers finds what the controllers would report about the objects that the API
// server admits, at least as advised.
func (c *checker) askControllers(ctx context.Context) error {
	w, err := c.newWorld()
	if err != nil {
		return err
	}
	if err := w.apply(ctx); err != nil {
		return err
	}
	w.nodeProfiles()
	w.workloadProfiles()
	w.remediationPolicies()
	for _, step := range []func(context.Context){w.shareTrees, w.poolPlans, w.traceReplays} {
		if step(ctx); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// world holds the objects that the controllers would see: those of the files, and those of
// the cluster that are not in the files.
type world struct {
	*checker

	workloads []v1alpha1.WorkloadProfile
	nodes     []v1alpha1.NodeProfile
	trees     []v1alpha1.ShareTree
	plans     []v1alpha1.PoolPlan
	replays   []v1alpha1.TraceReplay
	policies  []v1alpha1.RemediationPolicy
	// from are the objects of the files, by name.
	from map[ObjectName]*object
	// defaults are what profiles may ask for where the operator does not say.
	defaults config.Limits
	// broken reports whether an object of the files is in no state to be looked at.
	broken bool
}

// newWorld returns the typed objects.
func (c *checker) newWorld() (*world, error) {
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		return nil, err
	}
	w := &world{checker: c, from: map[ObjectName]*object{}, defaults: args.Limits}
	for _, o := range c.objects {
		if o.admitted == nil {
			w.broken = true
			continue
		}
		if err := w.add(o); err != nil {
			return nil, err
		}
	}
	if c.in.Cluster != nil {
		w.workloads = joined(w.workloads, c.in.Cluster.Workloads, func(of, there *v1alpha1.WorkloadProfile) { of.Status = there.Status })
		w.nodes = joined(w.nodes, c.in.Cluster.Nodes, func(of, there *v1alpha1.NodeProfile) { of.Status = there.Status })
		w.trees = joined(w.trees, c.in.Cluster.Trees, func(*v1alpha1.ShareTree, *v1alpha1.ShareTree) {})
	}
	return w, nil
}

// add adds an object of the files. One of the same name that came before gives way.
func (w *world) add(o *object) error {
	var err error
	switch o.definition.kind.Kind {
	case "WorkloadProfile":
		w.workloads, err = appendTyped(w, w.workloads, o)
	case "NodeProfile":
		w.nodes, err = appendTyped(w, w.nodes, o)
	case "ShareTree":
		w.trees, err = appendTyped(w, w.trees, o)
	case "PoolPlan":
		w.plans, err = appendTyped(w, w.plans, o)
	case "TraceReplay":
		w.replays, err = appendTyped(w, w.replays, o)
	case "RemediationPolicy":
		w.policies, err = appendTyped(w, w.policies, o)
	}
	return err
}

func appendTyped[T any, P interface {
	*T
	metav1.Object
}](w *world, list []T, o *object) ([]T, error) {
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.admitted, &typed); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", o.place, o.name, err)
	}
	p := P(&typed)
	if w.in.Cluster == nil && o.definition.namespaced {
		p.SetNamespace(o.name.Namespace) // the one of the request is not known
	}
	name := ObjectName{o.definition.kind.Kind, p.GetNamespace(), p.GetName()}
	if w.from[name] != nil {
		return list, nil // said already
	}
	w.from[name] = o
	if created := p.GetCreationTimestamp(); created.IsZero() {
		p.SetCreationTimestamp(w.in.Now)
	}
	return append(list, typed), nil
}

// joined returns the objects of the files, with what adopt takes over from those of the
// cluster by the same names, and then the others of the cluster.
func joined[T any, P interface {
	*T
	metav1.Object
}](files, cluster []T, adopt func(of, there *T)) []T {
	var others []T
	for i := range cluster {
		there := P(&cluster[i])
		k := slices.IndexFunc(files, func(o T) bool {
			p := P(&o)
			return p.GetNamespace() == there.GetNamespace() && p.GetName() == there.GetName()
		})
		if k < 0 {
			others = append(others, cluster[i])
			continue
		}
		P(&files[k]).SetCreationTimestamp(there.GetCreationTimestamp())
		adopt(&files[k], &cluster[i])
	}
	return append(files, others...)
}

// apply asks the API server of the cluster about the objects that it should not refuse
// by the rules. A namespace that is not there may be one of the files.
func (w *world) apply(ctx context.Context) error {
	if w.in.Cluster == nil || w.in.Cluster.Apply == nil {
		return nil
	}
	for _, o := range w.objects {
		if o.refused {
			continue
		}
		object := runtime.DeepCopyJSON(o.mended)
		if o.definition.namespaced && o.name.Namespace == "" {
			if err := unstructured.SetNestedField(object, w.in.Namespace, "metadata", "namespace"); err != nil {
				return err
			}
		}
		err := w.in.Cluster.Apply(ctx, object)
		var status apierrors.APIStatus
		switch {
		case err == nil:
		case !errors.As(err, &status) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err):
			return err
		case apierrors.IsNotFound(err):
			o.add(nil, Warning, err.Error())
		default:
			o.refused = true
			f := o.at(nil, err.Error())
			o.findings = append(o.findings, &f)
		}
	}
	return nil
}

// about returns the object of the files that a finding is about, nil for none.
func (w *world) about(kind string, o metav1.Object) *object {
	return w.from[ObjectName{kind, o.GetNamespace(), o.GetName()}]
}

// report adds what an error says about the fields of an object.
func (w *world) report(o *object, err error) {
	for _, each := range errorsIn(err) {
		problem, is := errors.AsType[*field.Error](each)
		if !is {
			o.add(path{"spec"}, Error, each.Error())
			continue
		}
		level := Error
		text := detail(problem)
		if problem.Origin == manifest.OriginMissing {
			if w.broken {
				continue // it may be one of those
			}
			if w.in.Cluster == nil {
				level, text = Warning, text+inFiles
			}
		}
		o.add(parsePath(problem.Field), level, text)
	}
}

// inFiles is added to the name of an object that a cluster may have.
const inFiles = " (in the files; no cluster was asked)"

// detail says what is wrong with a field.
func detail(err *field.Error) string {
	if err.Detail == "" || err.Type == field.ErrorTypeNotFound {
		return strings.ToLower(err.ErrorBody()[:1]) + err.ErrorBody()[1:]
	}
	if err.Type == field.ErrorTypeInvalid {
		return fmt.Sprintf("%v: %s", err.BadValue, err.Detail)
	}
	return err.Detail
}

// errorsIn returns the errors that an error is made of.
func errorsIn(err error) []error {
	if all, is := errors.AsType[utilerrors.Aggregate](err); is {
		return utilerrors.Flatten(all).Errors()
	}
	return []error{err}
}

func (w *world) nodeProfiles() {
	var valid []*profile.NodeClass
	for i := range w.nodes {
		p := &w.nodes[i]
		class, errs := profile.NewNodeClass(p)
		if o := w.about("NodeProfile", p); o != nil {
			if len(errs) > 0 {
				w.report(o, errs.ToAggregate())
			}
			o.followedByAll(profiles.FollowsAll(p.Spec.Selector, "node", "cluster"))
		}
		if len(errs) == 0 {
			valid = append(valid, class)
		}
	}
	in := Cluster{}
	if w.in.Cluster != nil {
		in = *w.in.Cluster
	}
	statuses := profiles.NodeProfiles(w.nodes, in.NodeLabels, w.in.Now)
	for i := range w.nodes {
		w.ignored(w.about("NodeProfile", &w.nodes[i]), statuses[i].Conditions)
	}
	if w.in.Cluster == nil {
		contest := newContest(valid, func(n *profile.NodeClass) string { return n.Name })
		for i := range w.nodes {
			p := &w.nodes[i]
			if winner := contest.winner(p.Name, p.Spec.Selector); winner != "" {
				w.about("NodeProfile", p).add(path{"spec", "selector"}, Warning, contested("nodes", "NodeProfile "+winner))
			}
		}
		return
	}
	for i := range w.nodes {
		w.follow("NodeProfile", &w.nodes[i], *statuses[i].Nodes, statuses[i].Conditions)
	}
}

// followedByAll warns of a selector without requirements, if a text says that it has none.
func (o *object) followedByAll(text string) {
	if text != "" {
		o.add(path{"spec", "selector"}, Warning, text)
	}
}

// follow adds who follows a profile of the files.
func (w *world) follow(kind string, p metav1.Object, count int32, conditions []metav1.Condition) {
	o := w.about(kind, p)
	if o == nil {
		return
	}
	f := Followers{ObjectName: ObjectName{kind, p.GetNamespace(), p.GetName()}, Count: count}
	if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionConflicted); c != nil && c.Status == metav1.ConditionTrue {
		f.Conflict = c.Message
		o.add(path{"spec", "selector"}, Warning, c.Message)
	}
	w.answer.Followers = append(w.answer.Followers, f)
}

func (w *world) workloadProfiles() {
	byNamespace := map[string][]v1alpha1.WorkloadProfile{}
	var namespaces []string
	for i := range w.workloads {
		at := w.workloads[i].Namespace
		if byNamespace[at] == nil {
			namespaces = append(namespaces, at)
		}
		byNamespace[at] = append(byNamespace[at], w.workloads[i])
	}
	for _, at := range namespaces {
		w.workloadsOf(at, byNamespace[at])
	}
}

// workloadsOf looks at the profiles of one namespace.
func (w *world) workloadsOf(namespace string, all []v1alpha1.WorkloadProfile) {
	var valid []*profile.Workload
	for i := range all {
		p := &all[i]
		one, errs := profile.NewWorkload(p, profile.NewResources(nil))
		if o := w.about("WorkloadProfile", p); o != nil {
			if len(errs) > 0 {
				w.report(o, errs.ToAggregate())
			}
			w.measurement(o, p)
			w.limits(o, p)
			o.followedByAll(profiles.FollowsAll(p.Spec.Selector, "pod", "namespace"))
		}
		if len(errs) == 0 {
			valid = append(valid, one)
		}
	}
	in := Cluster{}
	if w.in.Cluster != nil {
		in = *w.in.Cluster
	}
	statuses := profiles.WorkloadProfiles(all, in.PodLabels[namespace], w.nodes, w.in.Now)
	contest := newContest(valid, func(v *profile.Workload) string { return v.Name })
	for i := range all {
		p := &all[i]
		o := w.about("WorkloadProfile", p)
		if o == nil {
			continue
		}
		if ready := meta.FindStatusCondition(statuses[i].Conditions, v1alpha1.ConditionReady); ready != nil && ready.Reason == v1alpha1.ReasonUnknownResource {
			w.reportMissing(o, path{"spec", "resources"}, ready.Message)
		}
		w.ignored(o, statuses[i].Conditions)
		if w.in.Cluster != nil {
			w.follow("WorkloadProfile", p, *statuses[i].Pods, statuses[i].Conditions)
		} else if winner := contest.winner(p.Name, p.Spec.Selector); winner != "" {
			o.add(path{"spec", "selector"}, Warning, contested("pods", "WorkloadProfile "+winner))
		}
	}
}

// ignored warns of a valid profile that is ignored because there are too many.
func (*world) ignored(o *object, conditions []metav1.Condition) {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	if o != nil && ready != nil && ready.Reason == v1alpha1.ReasonTooManySelectors {
		o.add(path{"spec", "selector"}, Warning, ready.Message)
	}
}

// reportMissing adds what an object that is not in the files may mend. It remains a
// warning with a cluster: the profile is in use.
func (w *world) reportMissing(o *object, at path, text string) {
	switch {
	case w.in.Cluster != nil:
		o.add(at, Warning, text)
	case !w.broken:
		o.add(at, Warning, text+inFiles)
	}
}

// measurement checks what only the controller of measurements reads.
func (w *world) measurement(o *object, p *v1alpha1.WorkloadProfile) {
	if p.Spec.Measurement == nil || p.Spec.Measurement.Nodes == nil {
		return
	}
	if _, errs := profile.Selector(p.Spec.Measurement.Nodes, field.NewPath("spec", "measurement", "nodes")); len(errs) > 0 {
		w.report(o, errs.ToAggregate())
	}
}

func (w *world) shareTrees(ctx context.Context) {
	answers := map[string]*shares.TreeAnswer{}
	reasons := map[string]error{}
	for i := range w.trees {
		t := &w.trees[i]
		answer, why := shares.OfTree(ctx, shares.TreeInput{Tree: t, Profiles: w.workloads})
		answers[t.Name], reasons[t.Name] = answer, why
		o := w.about("ShareTree", t)
		if o == nil || ctx.Err() != nil {
			continue
		}
		if why != nil {
			w.report(o, why)
			continue
		}
		for _, missed := range answer.Missed() {
			o.add(path{"spec"}, Warning, fmt.Sprintf("%s misses its SLA: %s", missed.Name, missed.Verdict()))
		}
	}
	for i := range w.workloads {
		p := &w.workloads[i]
		o := w.about("WorkloadProfile", p)
		if o == nil || p.Spec.FairShare == nil {
			continue
		}
		conditions := shares.SLAAttainable(p, answers[p.Spec.FairShare.Tree], reasons[p.Spec.FairShare.Tree], w.in.Now)
		if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionSLAAttainable); c != nil && c.Reason == v1alpha1.ReasonTreeNotFound {
			w.report(o, field.Invalid(field.NewPath("spec", "fairShare", "tree"), p.Spec.FairShare.Tree, c.Message).WithOrigin(manifest.OriginMissing))
		}
		if left := shares.Absence(p, answers[p.Spec.FairShare.Tree], reasons[p.Spec.FairShare.Tree]); left != nil {
			w.report(o, left)
		}
	}
}

// remediationPolicies checks what policies choose, and whether they let anything be changed.
func (w *world) remediationPolicies() {
	for i := range w.policies {
		o := w.about("RemediationPolicy", &w.policies[i])
		if o == nil {
			continue
		}
		policy, errs := remediations.Compile(&w.policies[i])
		if len(errs) > 0 {
			w.report(o, errs.ToAggregate())
			continue
		}
		if name := policy.Exhausted(); name != "" && policy.Changes() {
			o.add(path{"spec", "budget", name}, Warning, "0: no change is ever started")
		}
	}
}

func (w *world) poolPlans(ctx context.Context) {
	for i := range w.plans {
		p := &w.plans[i]
		o := w.about("PoolPlan", p)
		in := pools.Input{Plan: p, Profiles: w.workloads, Quick: true}
		answer, why := pools.Plan(ctx, in)
		if ctx.Err() != nil {
			return
		}
		status := pools.Status(in, answer, why, w.in.Now)
		ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
		switch {
		case ready == nil || ready.Status == metav1.ConditionTrue:
		case ready.Reason == v1alpha1.ReasonMissingData || ready.Reason == v1alpha1.ReasonStaleData: // Prometheus was not asked
		case why != nil:
			w.report(o, why)
		default:
			o.add(path{"spec", "pools"}, Error, ready.Message)
		}
	}
}

func (w *world) traceReplays(context.Context) {
	for i := range w.replays {
		r := &w.replays[i]
		o := w.about("TraceReplay", r)
		_, err := replays.New(replays.Input{
			Replay: r, Workloads: w.usable(r.Namespace), Nodes: w.usableNodes(),
			Open: func() (io.ReadCloser, string, error) { return nil, "", errors.New("only the runs read the trace") },
		})
		if err != nil {
			w.report(o, err)
		}
	}
}

// usable returns the valid profiles of a namespace; what is wrong with the others is
// said of them.
func (w *world) usable(namespace string) []v1alpha1.WorkloadProfile {
	var list []v1alpha1.WorkloadProfile
	for i := range w.workloads {
		p := &w.workloads[i]
		if _, errs := profile.NewWorkload(p, profile.NewResources(nil)); len(errs) == 0 && p.Namespace == namespace {
			list = append(list, *p)
		}
	}
	return list
}

func (w *world) usableNodes() []v1alpha1.NodeProfile {
	var list []v1alpha1.NodeProfile
	for i := range w.nodes {
		if _, errs := profile.NewNodeClass(&w.nodes[i]); len(errs) == 0 {
			list = append(list, w.nodes[i])
		}
	}
	return list
}
