//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

// scaler is the ClusterRole that lets the manager scale what Kubernetes has.
const scaler = "loadline-manager-scaler"

func TestAPoolPlanScalesWhatTheManagerMayScale(t *testing.T) {
	t.Parallel()
	namespace := cluster.NewNamespace(t)
	targets := pools(namespace)
	for _, target := range targets {
		must(t, cluster.Create(t.Context(), target))
	}
	letScale(t, namespace)

	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}, Spec: v1alpha1.PoolPlanSpec{Mode: v1alpha1.ModeApply}}
	for _, target := range targets {
		plan.Spec.Classes = append(plan.Spec.Classes, busy(target.GetName(), 5000))
		plan.Spec.Pools = append(plan.Spec.Pools, pool(t, target))
	}
	cluster.Make(t, plan)
	cluster.AwaitCondition(t, plan, &plan.Status.Conditions, v1alpha1.ConditionApplied, metav1.ConditionTrue)

	for _, target := range targets {
		scale := &autoscalingv1.Scale{}
		must(t, cluster.SubResource("scale").Get(t.Context(), target, scale))
		i := slices.IndexFunc(plan.Status.Pools, func(p v1alpha1.PoolStatus) bool { return p.Name == target.GetName() })
		if i < 0 || scale.Spec.Replicas < 2 || scale.Spec.Replicas != *plan.Status.Pools[i].Servers {
			t.Errorf("%s has %d replicas, want as many as it needs servers, 2 or more: %+v", target.GetName(), scale.Spec.Replicas, plan.Status.Pools)
		}
	}
}

func TestAPlanThatNoNumberOfServersMeetsScalesNothing(t *testing.T) {
	t.Parallel()
	namespace := cluster.NewNamespace(t)
	target := pools(namespace)[0]
	must(t, cluster.Create(t.Context(), target))
	letScale(t, namespace)
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}, Spec: v1alpha1.PoolPlanSpec{
		Mode:    v1alpha1.ModeApply,
		Classes: []v1alpha1.PoolClass{busy(target.GetName(), 10)}, // to be answered in a hundredth of the time that they take
		Pools:   []v1alpha1.PlannedPool{pool(t, target)},
	}}
	cluster.Make(t, plan)

	ready := cluster.AwaitCondition(t, plan, &plan.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionFalse)
	applied := meta.FindStatusCondition(plan.Status.Conditions, v1alpha1.ConditionApplied)
	if ready.Reason != v1alpha1.ReasonInfeasible || applied == nil || applied.Status != metav1.ConditionUnknown {
		t.Errorf("the plan is %+v, want it %s and nothing applied", plan.Status.Conditions, v1alpha1.ReasonInfeasible)
	}
	// Two conditions turn bad for one reason, which is one event that happened twice.
	live.Until(t, "the event is there", live.Patience, func(ctx context.Context) (bool, string, error) {
		var events eventsv1.EventList
		err := cluster.List(ctx, &events, client.InNamespace(metav1.NamespaceDefault)) // where those of cluster-wide objects are
		for _, event := range events.Items {
			if event.Regarding.UID == plan.UID && event.Reason == v1alpha1.ReasonInfeasible && event.Series != nil {
				return true, "", nil
			}
		}
		return false, fmt.Sprintf("%d events, none of the plan", len(events.Items)), err
	})
}

// busy is a class of jobs of a second, three each second, that must be answered in a
// time.
func busy(name string, millis int64) v1alpha1.PoolClass {
	return v1alpha1.PoolClass{
		Name:    name,
		Arrival: &v1alpha1.ClassArrival{RatePerSecond: new(resource.MustParse("3"))},
		Service: &v1alpha1.ClassService{MeanMillis: new(int64(1000))},
		SLA:     &v1alpha1.ClassSLA{ResponseTimeMillis: &millis},
	}
}

// pool is a pool that serves a class of its own name.
func pool(t *testing.T, target client.Object) v1alpha1.PlannedPool {
	t.Helper()
	kind, err := cluster.GroupVersionKindFor(target)
	must(t, err)
	return v1alpha1.PlannedPool{Name: target.GetName(), Classes: []string{target.GetName()}, MaxServers: new(int32(100)), ScaleTarget: &v1alpha1.ScaleTarget{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: target.GetNamespace(), Name: target.GetName(),
	}}
}

// pools are what the manager can be let to scale, with a replica each that no node
// will run.
func pools(namespace string) []client.Object {
	selector := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	}
	template := func(name string) corev1.PodTemplateSpec {
		spec := cluster.ProbeSpec("watch")
		spec.RestartPolicy, spec.NodeSelector = corev1.RestartPolicyAlways, map[string]string{"loadline.dev/e2e": "nowhere"}
		return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector(name).MatchLabels}, Spec: spec}
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: named("web"), Spec: appsv1.DeploymentSpec{Selector: selector("web"), Template: template("web")}},
		&appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{Selector: selector("db"), Template: template("db")}},
		&appsv1.ReplicaSet{ObjectMeta: named("batch"), Spec: appsv1.ReplicaSetSpec{Selector: selector("batch"), Template: template("batch")}},
	}
}

// letScale lets the manager scale in a namespace, and returns when it may.
func letScale(t *testing.T, namespace string) {
	t.Helper()
	var deployment appsv1.Deployment
	must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: *operator, Name: manager}, &deployment))
	account := deployment.Spec.Template.Spec.ServiceAccountName
	must(t, cluster.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: scaler},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: scaler},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: *operator, Name: account}},
	}))
	live.Until(t, "the manager may scale", live.Patience, func(ctx context.Context) (bool, string, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: fmt.Sprintf("system:serviceaccount:%s:%s", *operator, account),
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: "update", Group: "apps", Resource: "deployments", Subresource: "scale",
			},
		}}
		err := cluster.Create(ctx, review)
		return review.Status.Allowed, review.Status.Reason, err
	})
}
