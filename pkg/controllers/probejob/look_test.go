package probejob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

func cluster(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
			if e, ok := o.(*corev1.Event); ok {
				return []string{string(e.InvolvedObject.UID)}
			}
			return nil
		}).Build()
}

// about is an event about an object.
func about(uid types.UID, reason, message string) *corev1.Event {
	e := event(reason, message)
	e.Namespace, e.Name, e.InvolvedObject.UID = "loadline", string(uid)+"-event", uid
	return &e
}

func TestEventsSayWhyAJobIsPending(t *testing.T) {
	t.Parallel()
	starting := pod(waiting("ContainerCreating", ""), func(p *corev1.Pod) { p.UID = "pod-uid" })
	tests := map[string]struct {
		objects []client.Object
		want    string
	}{
		"those about the Job before it has a pod": {[]client.Object{about("job-uid", "FailedCreate", "no quota"), about("other", "FailedCreate", "of another")}, "the pod cannot be created: no quota"},
		"those about the pod then":                {[]client.Object{&starting, about("pod-uid", "FailedMount", "no secret")}, "a volume cannot be mounted: no secret"},
		"none":                                    {nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster(test.objects...)
			o, err := probejob.Look(t.Context(), c, c, job(), noon.Time)
			if err != nil {
				t.Fatal(err)
			}
			if o.State != probejob.Pending || o.Message != test.want {
				t.Errorf("%v: %q, want %q", o.State, o.Message, test.want)
			}
		})
	}
}

func TestTheResultOfAFinishedJobIsReadPastTheCache(t *testing.T) {
	t.Parallel()
	stale := pod(running())
	done := pod(ended(corev1.PodSucceeded, 0, "Completed", "the report"))
	o, err := probejob.Look(t.Context(), cluster(&stale), cluster(&done), job(complete()), noon.Time)
	if err != nil {
		t.Fatal(err)
	}
	if o.State != probejob.Succeeded || o.Messages[probejob.ProbeContainer] != "the report" {
		t.Errorf("the outcome is %+v", o)
	}
}

func TestAJobIsAppliedOnce(t *testing.T) {
	t.Parallel()
	c := cluster()
	j := job()
	j.UID, j.CreationTimestamp = "", metav1.Time{}
	for range 2 {
		if err := probejob.Apply(t.Context(), c, j, "test"); err != nil {
			t.Fatal(err)
		}
	}
	var jobs batchv1.JobList
	if err := c.List(t.Context(), &jobs); err != nil {
		t.Fatal(err)
	}
	if len(jobs.Items) != 1 {
		t.Fatalf("there are %d Jobs", len(jobs.Items))
	}
	if diff := cmp.Diff(j.Spec, jobs.Items[0].Spec); diff != "" {
		t.Errorf("the Job is not as it was applied (-want +got):\n%s", diff)
	}
}

func TestAJobWakesItsOwner(t *testing.T) {
	t.Parallel()
	of := func(owner string) *batchv1.Job {
		j := job()
		j.Annotations = map[string]string{probejob.OwnerKey: owner}
		return j
	}
	got := [][]reconcile.Request{
		probejob.ToNodeProfile("loadline")(t.Context(), job()),
		probejob.ToWorkloadProfile(t.Context(), of("WorkloadProfile/web")),
		probejob.ToNodeProfile("elsewhere")(t.Context(), job()),
		probejob.ToWorkloadProfile(t.Context(), job()),
		probejob.ToNodeProfile("loadline")(t.Context(), of("WorkloadProfile/web")),
		probejob.ToNodeProfile("loadline")(t.Context(), &corev1.Pod{}),
		probejob.ToNodeProfile("")(t.Context(), of("NodeProfile/")),
		probejob.ToWorkloadProfile(t.Context(), of("WorkloadProfile/")),
		probejob.ToWorkloadProfile(t.Context(), of("WorkloadProfile/../../secrets")),
		probejob.ToWorkloadProfile(t.Context(), of("WorkloadProfile")),
	}
	want := [][]reconcile.Request{
		{{NamespacedName: types.NamespacedName{Name: "fast"}}},
		{{NamespacedName: types.NamespacedName{Namespace: "loadline", Name: "web"}}},
		nil, nil, nil, nil, nil, nil, nil, nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
}
