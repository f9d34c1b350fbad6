// Package installation judges how well Loadline works in a cluster, by what was found
// there: whether its kinds are served, its components are ready and have a leader, its
// admission policies are in force, and its profiles are in use; and says what to do
// about what is not well.
package installation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/version"

	"loadline.dev/loadline/pkg/text"
)

// ourKinds are the kinds of our API, which the API server has to serve.
var kinds = []string{"NodeProfile", "PoolPlan", "Remediation", "RemediationPolicy", "ShareTree", "TraceReplay", "WorkloadProfile"}

// Judge says how well all is at a time.
func (f *Facts) Judge(now time.Time) *Answer {
	a := &Answer{Kubernetes: f.Kubernetes, Components: slices.Concat([]Component{}, f.Components), Gauges: f.Gauges}
	a.Checks = append(a.Checks, Check{Name: "cluster", State: StateOK, Message: "Kubernetes " + f.Kubernetes + " at " + f.Host})
	if f.gaugesAlone() {
		a.Checks = append(a.Checks, Check{
			Name: "installed", State: StateOK, Message: "gauges alone: there is no manager and no scheduler, and there are no resource definitions",
		})
		a.Checks = append(a.Checks, f.judgeGauges()...)
		a.Checks = append(a.Checks, f.judgeObserved()...)
		a.OK = allWell(a.Checks)
		return a
	}
	a.Checks = append(a.Checks, f.judgeKinds())
	a.Checks = append(a.Checks, f.judgeComponents(now)...)
	a.Checks = append(a.Checks, f.judgeGauges()...)
	a.Checks = append(a.Checks, f.judgeObserved()...)
	a.Checks = append(a.Checks, f.judgePolicies())
	if f.WorkloadsErr == nil {
		a.WorkloadProfiles = countWorkloads(f.Workloads)
	}
	if f.NodesErr == nil {
		a.NodeProfiles = countNodes(f.Nodes)
	}
	a.Checks = append(a.Checks,
		judgeProfiles("WorkloadProfiles", "pod", "measured", a.WorkloadProfiles, f.WorkloadsErr),
		judgeProfiles("NodeProfiles", "node", "calibrated", a.NodeProfiles, f.NodesErr),
		f.judgeContention(a),
	)
	a.OK = allWell(a.Checks)
	return a
}

func allWell(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return c.State == StateFailed })
}

// gaugesAlone reports whether gauges are all that is installed, as values-insight-only.yaml of the chart has it.
func (f *Facts) gaugesAlone() bool {
	return len(f.Gauges) > 0 && len(f.Components) == 0 && f.ComponentsErr == nil && len(f.Kinds) == 0 && f.KindsErr == nil
}

const askForRight = "ask for the right, or run it as a user who has it (--as)"

func (f *Facts) judgeKinds() Check {
	c := Check{Name: "resource definitions", State: StateOK}
	missing := slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return slices.Contains(f.Kinds, kind) })
	switch {
	case f.KindsErr != nil:
		c.State, c.Message = StateFailed, "cannot tell: "+f.KindsErr.Error()
	case len(missing) > 0:
		c.State, c.Message = StateFailed, "not served: "+strings.Join(missing, ", ")
		c.Do = "install them: kubectl apply --server-side -k config/crd, or the chart with crds.enabled=true"
	default:
		c.Message = fmt.Sprintf("%d kinds are served", len(kinds))
	}
	return c
}

// judgeComponents judges each Deployment of the manager and the scheduler, and what
// is missing.
func (f *Facts) judgeComponents(now time.Time) (checks []Check) {
	for _, name := range []string{Manager, Scheduler} {
		found := false
		for i := range f.Components {
			if c := &f.Components[i]; c.Name == name {
				found = true
				checks = append(checks, f.judgeComponent(c, now))
			}
		}
		switch wanted := !slices.Contains(f.Without, name); {
		case f.ComponentsErr != nil && wanted:
			checks = append(checks, Check{Name: name, State: StateFailed, Message: "cannot tell: " + f.ComponentsErr.Error(), Do: askForRight})
		case !found && wanted:
			checks = append(checks, Check{
				Name: name, State: StateFailed, Message: fmt.Sprintf("not installed: no Deployment with the label %s=%s runs loadline-%s", PartOfLabel, PartOf, name),
				Do: fmt.Sprintf("install it with the chart, or with kubectl apply --server-side -k config/default; if it is not to be there, give --without %s", name),
			})
		}
	}
	return checks
}

// judgeComponent judges a Deployment.
func (f *Facts) judgeComponent(c *Component, now time.Time) Check {
	result := Check{Name: c.Name, State: StateOK, Message: fmt.Sprintf("%d of %d replicas ready, version %s", c.ReadyReplicas, c.Replicas, c.Version)}
	fail := func(message, do string) Check {
		return Check{Name: c.Name, State: StateFailed, Message: message, Do: do}
	}
	leader, problem := f.leader(c, now)
	switch {
	case slices.Contains(f.Without, c.Name):
		result.State, result.Message = StateWarning, fmt.Sprintf("%s/%s is there, which it is not to be", c.Namespace, c.Deployment)
		return result
	case c.Replicas == 0:
		return fail(fmt.Sprintf("%s/%s is scaled to 0", c.Namespace, c.Deployment), "kubectl scale "+c.kubectl()+" --replicas=2")
	case c.ReadyReplicas == 0:
		return fail(fmt.Sprintf("0 of %d replicas are ready", c.Replicas), fmt.Sprintf("kubectl describe %s and kubectl logs %[1]s say why", c.kubectl()))
	case f.LeasesErr != nil:
		return fail("cannot tell who leads: "+f.LeasesErr.Error(), askForRight)
	case problem != "":
		return fail(problem, fmt.Sprintf("kubectl logs %s says why; may its service account create and update Leases?", c.kubectl()))
	case c.ReadyReplicas < c.Replicas:
		result.State, result.Do = StateWarning, fmt.Sprintf("kubectl describe %s says why", c.kubectl())
	}
	if leader != "" {
		result.Message += ", " + leader + " leads"
	}
	if c.Name == Scheduler {
		f.judgeSchedulerConfig(&result)
		f.judgeSkew(&result, c.emulated())
	}
	return result
}

// judgeSkew adds that the scheduler and the API server are of versions that kube-scheduler's skew policy does not allow: it must not be
// newer, or do what a newer one does, and at most one minor version older.
func (f *Facts) judgeSkew(c *Check, emulated string) {
	server, err := version.ParseGeneric(f.Kubernetes)
	own, ownErr := version.ParseGeneric(cmp.Or(emulated, f.BuiltWith))
	if err != nil || ownErr != nil || own.Minor() <= server.Minor() && server.Minor() <= own.Minor()+1 {
		return
	}
	if c.State == StateOK {
		c.State = StateWarning
		c.Do = fmt.Sprintf("the version skew policy of Kubernetes allows a scheduler of the API server's version, or the one before: "+
			"start an older cluster's with --emulated-version=%d.%d, as the chart does, and see docs/upgrade.md", server.Major(), server.Minor())
	}
	is := "is made of"
	if emulated != "" {
		is = "emulates"
	}
	c.Message += fmt.Sprintf("; it %s kube-scheduler %s, and the API server is %d.%d", is, own, server.Major(), server.Minor())
}

// judgeSchedulerConfig adds which pods the scheduler places.
func (f *Facts) judgeSchedulerConfig(c *Check) {
	switch {
	case f.SchedulerErr != nil:
		c.Message += "; which pods it places is not known: " + f.SchedulerErr.Error()
	case len(f.Scheduler.Names) == 0:
		c.State, c.Message = StateFailed, "no profile of its configuration enables the plugin "+DilationPlugin
		c.Do = "enable it, as config/scheduler/scheduler.yaml does"
	default:
		c.Message += "; places pods with schedulerName " + strings.Join(f.Scheduler.Names, ", ")
	}
}

// clockError is by how much the caller's clock may be off.
const clockError = time.Minute

// leader returns which pod of a component leads, nothing if they do not elect one,
// and what is wrong if they do and none does.
func (f *Facts) leader(c *Component, now time.Time) (pod, problem string) {
	var late *coordinationv1.Lease
	for i := range f.Leases {
		l := &f.Leases[i]
		if l.Spec.HolderIdentity == nil || !strings.HasPrefix(*l.Spec.HolderIdentity, c.Deployment+"-") {
			continue
		}
		if held(l, now) {
			pod, _, _ := strings.Cut(*l.Spec.HolderIdentity, "_") // what follows is random
			return pod, ""
		}
		late = l
	}
	switch {
	case late != nil && late.Spec.RenewTime == nil:
		return "", fmt.Sprintf("no replica leads: Lease %s was never renewed", text.QualifiedName(late))
	case late != nil:
		return "", fmt.Sprintf("no replica leads: Lease %s was last renewed at %s", text.QualifiedName(late), late.Spec.RenewTime.UTC().Format(time.RFC3339))
	case f.elects(c):
		return "", "no replica leads: none of its pods holds a Lease"
	case c.Replicas > 1:
		return "", fmt.Sprintf("%d replicas act at once: they do not elect a leader", c.Replicas)
	default:
		return "", ""
	}
}

// held reports whether the holder of a Lease has renewed it in time.
func held(l *coordinationv1.Lease, now time.Time) bool {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return false
	}
	end := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds)*time.Second + clockError)
	return now.Before(end)
}

// elects reports whether the replicas of a component elect a leader.
func (f *Facts) elects(c *Component) bool {
	if c.Name == Scheduler {
		return f.Scheduler != nil && f.Scheduler.Elects
	}
	return slices.ContainsFunc(c.arguments(), func(arg string) bool { return arg == "--leader-elect" || arg == "--leader-elect=true" })
}

func (f *Facts) judgePolicies() Check {
	c := Check{Name: "admission policies", State: StateOK}
	var inForce, unbound []string
	for _, p := range f.Policies {
		if p.Bound {
			inForce = append(inForce, p.Name)
		} else {
			unbound = append(unbound, p.Name)
		}
	}
	const apply = "kubectl apply --server-side -k config/admission, or turn them on under admission in the values of the chart"
	switch {
	case f.PoliciesErr != nil:
		c.State, c.Message, c.Do = StateWarning, "cannot tell: "+f.PoliciesErr.Error(), askForRight
	case len(unbound) > 0:
		c.State, c.Message, c.Do = StateWarning, "without a binding, so not in force: "+strings.Join(unbound, ", "), apply
	case len(inForce) == 0:
		c.State, c.Message = StateWarning, "none: all users who may write profiles may have Jobs run for measurements"
		c.Do = apply
	default:
		c.Message = "in force: " + strings.Join(inForce, ", ")
	}
	if f.NoMutating {
		c.Message += "; pods of a pool get no nodes by a policy, as the API server has no MutatingAdmissionPolicy v1 (Kubernetes 1.36)"
	}
	return c
}

// judgeProfiles judges the profiles of a kind.
func judgeProfiles(kind, of, measured string, n *ProfileCounts, err error) Check {
	c := Check{Name: kind, State: StateOK}
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		c.State, c.Message = StateWarning, "there can be none without their definition"
		return c
	case err != nil:
		c.State, c.Message, c.Do = StateWarning, "cannot tell: "+err.Error(), askForRight
		return c
	case n.Total == 0:
		c.Message = "none yet"
		return c
	}
	c.Message = fmt.Sprintf("%s: %s ready (%s %s)", text.Count(int64(n.Total)), text.Count(int64(n.Ready)), text.Count(int64(n.Measured)), measured)
	for _, part := range []struct {
		n    int
		what string
	}{
		{n.Measuring, "being " + measured},
		{n.NotMeasured, "not " + measured + " yet"},
		{n.NotObserved, "not observed yet"},
		{n.Advising, "with advice only"},
		{len(n.Invalid), "invalid"},
		{len(n.Conflicted), "in conflict"},
		{len(n.Unseen), "not looked at"},
	} {
		if part.n > 0 {
			c.Message += fmt.Sprintf(", %s %s", text.Count(int64(part.n)), part.what)
		}
	}
	c.Message += fmt.Sprintf("; %s follow them", text.Counted(n.Followers, of))
	resource := strings.ToLower(kind)
	switch {
	case len(n.Unseen) > 0:
		c.State, c.Do = StateWarning, fmt.Sprintf("the manager has not seen %s: its logs say why", text.Names(n.Unseen))
	case len(n.Invalid) > 0:
		c.State, c.Do = StateWarning, fmt.Sprintf("kubectl describe %s says what is wrong with %s", resource, text.Names(n.Invalid))
	case len(n.Conflicted) > 0:
		c.State, c.Do = StateWarning, fmt.Sprintf("make the selectors differ of %s: kubectl describe %s says whose match the same %ss", text.Names(n.Conflicted), resource, of)
	}
	return c
}
