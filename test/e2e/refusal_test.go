//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

func TestTargetsThatCannotBeMeasuredAreRefusedWithTheCause(t *testing.T) {
	t.Parallel()
	node := reserve(t, 1)[0]
	const registry = "registry.invalid/loadline/nothing:v1"
	targets := map[string]struct {
		template func() corev1.PodSpec
		texts    []string
	}{
		"a command that does not end": {
			func() corev1.PodSpec { return cluster.ProbeSpec("sink", "--listen", ":7070") },
			[]string{"the target did not end within 5 s", "raise timeoutSeconds"},
		},
		"a command that fails": {
			func() corev1.PodSpec { return cluster.ProbeSpec("run", "--job", "tape", "--duration", "1s") },
			[]string{"container probe ended with exit code 2", "tape: there is no such standard job"},
		},
		"an image that is nowhere": {
			func() corev1.PodSpec {
				spec := cluster.ProbeSpec("watch")
				spec.Containers[0].Image, spec.Containers[0].ImagePullPolicy = registry, corev1.PullAlways
				return spec
			},
			[]string{fmt.Sprintf("the image %q of container probe cannot be pulled", registry)},
		},
		"a pod that Pod Security refuses": {
			func() corev1.PodSpec {
				spec := cluster.ProbeSpec("watch")
				spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
				return spec
			},
			[]string{"the pod cannot be created", `violates PodSecurity "restricted:latest"`, "privileged"},
		},
	}
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they take turns on the node
			namespace := cluster.NewNamespace(t)
			cluster.CronJob(t, namespace, "bad", target.template())
			profile := live.ProfileOf(namespace, "bad", node)
			profile.Spec.Measurement.TimeoutSeconds = new(int64(5))
			must(t, cluster.Create(t.Context(), profile))
			awaitRefusal(t, profile, v1alpha1.ReasonTargetFailed, target.texts...)
			cluster.AwaitNothingLeft(t, profile.UID)
		})
	}
}

// awaitRefusal waits until a measurement has ended for a reason, which a message
// explains that contains all of some texts.
func awaitRefusal(t *testing.T, profile *v1alpha1.WorkloadProfile, reason string, texts ...string) {
	t.Helper()
	cluster.AwaitLong(t, fmt.Sprintf("profile %s says %s", profile.Name, reason), live.LongPatience, profile, func() (bool, string) {
		c := live.MeasuredBy(profile)
		return c != nil && c.Reason == reason && profile.Status.Measuring == nil, live.Stand(profile)
	})
	t.Log(live.Stand(profile))
	c := live.MeasuredBy(profile)
	if c.Status != metav1.ConditionFalse || len(profile.Status.Measurements) > 0 {
		t.Errorf("there is a result: %s: %+v", c.Status, profile.Status.Measurements)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			t.Errorf("the message lacks %q: %s", text, c.Message)
		}
	}
}

func TestATargetThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	namespace := cluster.NewNamespace(t)
	profile := live.ProfileOf(namespace, "nobody", cluster.Workers[1].Name)
	must(t, cluster.Create(t.Context(), profile))
	awaitRefusal(t, profile, v1alpha1.ReasonTargetFailed, fmt.Sprintf(`there is no CronJob "nobody" in namespace %s`, namespace))
}

func TestOnlyWhoMayCreateJobsMayHaveAWorkloadMeasured(t *testing.T) {
	t.Parallel()
	namespace := cluster.NewNamespace(t)
	writesProfiles := rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"workloadprofiles"}, Verbs: []string{"create"}}
	createsJobs := rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"create"}}
	carol := user(t, namespace, "carol", writesProfiles)
	ada := user(t, namespace, "ada", writesProfiles, createsJobs)

	profile := live.ProfileOf(namespace, "report", cluster.Workers[0].Name)
	err := carol.Create(t.Context(), profile.DeepCopy(), client.DryRunAll)
	if want := "carol may not create jobs.batch there"; !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("carol, who may not create Jobs, gets %v, want it forbidden: %s", err, want)
	}
	if err := ada.Create(t.Context(), profile.DeepCopy(), client.DryRunAll); err != nil {
		t.Errorf("ada, who may create Jobs, gets %v", err)
	}
	declared := profile.DeepCopy()
	declared.Spec.Measurement = nil
	declared.Spec.Resources = []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.5"))}}
	if err := carol.Create(t.Context(), declared, client.DryRunAll); err != nil {
		t.Errorf("carol, who measures nothing, gets %v", err)
	}
}

// user returns a client of a user who has rights in a namespace.
func user(t *testing.T, namespace, name string, rules ...rbacv1.PolicyRule) client.Client {
	t.Helper()
	who := metav1.ObjectMeta{Namespace: namespace, Name: name}
	must(t, cluster.Create(t.Context(), &rbacv1.Role{ObjectMeta: who, Rules: rules}))
	must(t, cluster.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: who,
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}))
	c, err := cluster.As(name)
	must(t, err)
	return c
}
