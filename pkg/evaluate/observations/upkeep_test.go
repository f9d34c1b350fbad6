package observations_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/test/given"
)

// member returns a pod of a Deployment of a namespace.
func member(namespace, deployment, app string) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: deployment + "-5d4f-x", Labels: map[string]string{"app": app, "pod-template-hash": "5d4f"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: deployment + "-5d4f", Controller: new(true)}},
	}}
}

// madeBefore returns a profile that the manager made a day ago for the pods of an app.
func madeBefore(name, app, mode string) v1alpha1.WorkloadProfile {
	p := given.Workload(name, 24*time.Hour)
	p.Labels = map[string]string{v1alpha1.ManagedByLabel: v1alpha1.ManagedByManager}
	p.Spec.Selector = given.Selector("app", app)
	p.Spec.Observation = &v1alpha1.Observation{Mode: mode}
	return p
}

// upkeep says in words what to do, in namespaces whose mode is in their names.
func upkeep(t *testing.T, pods []corev1.Pod, profiles []v1alpha1.WorkloadProfile, unprofiled ...string) []string {
	t.Helper()
	s := snapshot(profiles...)
	changes, err := observations.Upkeep(&observations.UpkeepInput{
		Mode: func(namespace string) string {
			if namespace == "shop" {
				return v1alpha1.ModeApply
			}
			return namespace
		},
		Profiles: profiles, Unprofiled: unprofiled, Now: noon,
		Follows: func(p *corev1.Pod) bool { return s.Workload(p) != nil },
		Pods: func(namespace string) ([]corev1.Pod, error) {
			return slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return p.Namespace != namespace }), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for doing, list := range map[string][]*v1alpha1.WorkloadProfile{"create": changes.Create, "update": changes.Update, "delete": changes.Delete} {
		for _, p := range list {
			all = append(all, fmt.Sprintf("%s %s/%s %s %s %s", doing, p.Namespace, p.Name, p.Labels[v1alpha1.ManagedByLabel], p.Spec.Observation.Mode, metav1.FormatLabelSelector(p.Spec.Selector)))
		}
	}
	for workload, problem := range maps.All(changes.Problems) {
		all = append(all, workload+": "+problem)
	}
	slices.Sort(all)
	return all
}

func TestWorkloadsGetProfilesWhereTheirNamespaceWantsIt(t *testing.T) {
	t.Parallel()
	declared := given.Workload("deployment-cart", time.Hour, given.CPU("0.5"))
	declared.Spec.Selector = given.Selector("app", "other")
	moved := madeBefore("deployment-cart", "old", v1alpha1.ModeApply)
	goes := madeBefore("deployment-cart", "old", v1alpha1.ModeApply)
	goes.DeletionTimestamp = new(metav1.NewTime(noon))
	everything := given.Workload("all", time.Hour, given.CPU("0.5"))
	everything.Spec.Selector = &metav1.LabelSelector{}
	both := []corev1.Pod{member("shop", "cart", "cart"), member("shop", "web", "cart")}
	cart := []corev1.Pod{member("shop", "cart", "cart")}
	for name, c := range map[string]struct {
		pods       []corev1.Pod
		profiles   []v1alpha1.WorkloadProfile
		unprofiled []string
		want       []string
	}{
		"apply":                   {cart, nil, []string{"Deployment shop/cart"}, []string{"create shop/deployment-cart loadline-manager apply app=cart"}},
		"advise":                  {[]corev1.Pod{member("advise", "cart", "cart")}, nil, []string{"Deployment advise/cart"}, []string{"create advise/deployment-cart loadline-manager advise app=cart"}},
		"off":                     {[]corev1.Pod{member("off", "cart", "cart")}, nil, []string{"Deployment off/cart"}, nil},
		"not observed":            {cart, nil, nil, nil},
		"ended":                   {nil, nil, []string{"Deployment shop/cart"}, nil},
		"it has a profile by now": {cart, []v1alpha1.WorkloadProfile{everything}, []string{"Deployment shop/cart"}, nil},
		"it has what was made":    {cart, []v1alpha1.WorkloadProfile{madeBefore("deployment-cart", "cart", v1alpha1.ModeApply)}, []string{"Deployment shop/cart"}, nil},
		"its labels changed":      {cart, []v1alpha1.WorkloadProfile{moved}, []string{"Deployment shop/cart"}, []string{"update shop/deployment-cart loadline-manager apply app=cart"}},
		"the name is taken":       {cart, []v1alpha1.WorkloadProfile{declared}, []string{"Deployment shop/cart"}, []string{"Deployment shop/cart: there is another profile of the name deployment-cart"}},
		"the old one is leaving":  {cart, []v1alpha1.WorkloadProfile{goes}, []string{"Deployment shop/cart"}, []string{"Deployment shop/cart: the profile of the name deployment-cart is being deleted"}},
		"it cannot be selected":   {both, nil, []string{"Deployment shop/cart"}, []string{"Deployment shop/cart: the labels of its pods, app=cart, select pods of Deployment shop/web, too"}},
		"a name that is none":     {[]corev1.Pod{member("shop", "cart_2", "cart")}, nil, []string{"Deployment shop/cart_2"}, []string{`Deployment shop/cart_2: "deployment-cart_2" cannot be the name of a profile`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(append([]string{}, c.want...), upkeep(t, c.pods, c.profiles, c.unprofiled...)); diff != "" {
				t.Errorf("unexpected changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProfilesThatWereMadeFollowTheirNamespace(t *testing.T) {
	t.Parallel()
	off := madeBefore("off", "off", v1alpha1.ModeApply)
	off.Namespace = "off"
	advised := madeBefore("advised", "advised", v1alpha1.ModeApply)
	advised.Namespace = "advise"
	owned := *off.DeepCopy()
	owned.Name, owned.Labels = "owned", nil
	more := *off.DeepCopy()
	more.Name, more.Spec.Measurement = "more", &v1alpha1.Measurement{}
	old := madeBefore("old", "old", v1alpha1.ModeApply)
	old.CreationTimestamp = metav1.NewTime(noon.Add(-observations.KeepUnseen - time.Hour))
	seen := *old.DeepCopy()
	seen.Name = "seen"
	seen.Status.Observations = []v1alpha1.WorkloadObservation{{Time: new(metav1.NewTime(noon.Add(-observations.KeepUnseen + time.Hour)))}}
	got := upkeep(t, nil, []v1alpha1.WorkloadProfile{off, advised, owned, more, old, seen, madeBefore("right", "right", v1alpha1.ModeApply)})
	want := []string{
		"delete off/off loadline-manager apply app=off", "delete shop/old loadline-manager apply app=old", "update advise/advised loadline-manager advise app=advised",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected changes (-want +got):\n%s", diff)
	}
}

// Anyone who may write profiles can set the label, and may add to what the manager made.
func TestAProfileThatSaysMoreThanTheManagerWritesIsLeftAlone(t *testing.T) {
	t.Parallel()
	added := func(name string, add func(*v1alpha1.WorkloadProfileSpec)) v1alpha1.WorkloadProfile {
		p := madeBefore(name, "old", v1alpha1.ModeApply)
		add(&p.Spec)
		return p
	}
	var all []v1alpha1.WorkloadProfile
	for field, add := range map[string]func(*v1alpha1.WorkloadProfileSpec){
		"resources":     func(s *v1alpha1.WorkloadProfileSpec) { s.Resources = []v1alpha1.ResourceDemand{given.CPU("0.5")} },
		"interference":  func(s *v1alpha1.WorkloadProfileSpec) { s.Interference = []v1alpha1.Interference{{Name: "llc"}} },
		"measurement":   func(s *v1alpha1.WorkloadProfileSpec) { s.Measurement = &v1alpha1.Measurement{} },
		"neutralmillis": func(s *v1alpha1.WorkloadProfileSpec) { s.NeutralMillis = new(int64(100)) },
		"arrival":       func(s *v1alpha1.WorkloadProfileSpec) { s.Arrival = &v1alpha1.Arrival{} },
		"sla":           func(s *v1alpha1.WorkloadProfileSpec) { s.SLA = &v1alpha1.SLA{ResponseTimeMillis: new(int64(100))} },
		"importance":    func(s *v1alpha1.WorkloadProfileSpec) { s.Importance = new(resource.MustParse("2")) },
		"fairshare":     func(s *v1alpha1.WorkloadProfileSpec) { s.FairShare = &v1alpha1.FairShare{} },
		"none":          func(s *v1alpha1.WorkloadProfileSpec) { s.Observation = nil },
	} {
		unwanted, unseen, taken := added(field, add), added(field, add), added("deployment-cart", add)
		unwanted.Namespace = "off"
		unseen.CreationTimestamp = metav1.NewTime(noon.Add(-observations.KeepUnseen - time.Hour))
		all = append(all, unwanted, unseen)
		got := upkeep(t, []corev1.Pod{member("shop", "cart", "cart")}, []v1alpha1.WorkloadProfile{taken}, "Deployment shop/cart")
		if diff := cmp.Diff([]string{"Deployment shop/cart: there is another profile of the name deployment-cart"}, got); diff != "" {
			t.Errorf("%s, in place of one that is made (-want +got):\n%s", field, diff)
		}
	}
	if got := upkeep(t, nil, all); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// The manager changes profiles one after another, those of all namespaces.
func TestOfProfilesThatClaimToBeMadeABoundedNumberIsChangedAtOnce(t *testing.T) {
	t.Parallel()
	var claim []v1alpha1.WorkloadProfile
	for k := range 3 * observations.MaxMade {
		p := madeBefore(fmt.Sprint("claim-", k), "x", v1alpha1.ModeApply)
		p.Namespace = "off"
		claim = append(claim, p)
	}
	advised := madeBefore("advised", "advised", v1alpha1.ModeApply)
	advised.Namespace = "advise"
	got := upkeep(t, nil, append(claim, advised))
	if len(got) != observations.MaxMade+1 || !slices.Contains(got, "update advise/advised loadline-manager advise app=advised") {
		t.Errorf("%d changes", len(got))
	}
}

func TestWhatIsNotThereAgainGetsNoProfile(t *testing.T) {
	t.Parallel()
	once := member("shop", "cart", "cart")
	once.OwnerReferences[0].Kind = "Job"
	alone := member("shop", "cart", "cart")
	alone.OwnerReferences = nil
	if got := upkeep(t, []corev1.Pod{once, alone}, nil, "Job shop/cart-5d4f", "Pod shop/cart-5d4f-x"); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func TestANamespaceGetsABoundedNumberOfProfiles(t *testing.T) {
	t.Parallel()
	var pods []corev1.Pod
	var unprofiled []string
	profiles := []v1alpha1.WorkloadProfile{madeBefore("first", "first", v1alpha1.ModeApply)}
	for k := range observations.MaxMade + 2 {
		name := fmt.Sprintf("app-%04d", k)
		pods, unprofiled = append(pods, member("shop", name, name)), append(unprofiled, "Deployment shop/"+name)
	}
	got := upkeep(t, pods, profiles, unprofiled...)
	made := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "create ") })
	if len(made) != observations.MaxMade-1 || len(got) != len(pods) {
		t.Errorf("%d profiles were made, and there is something to say of %d of %d workloads", len(made), len(got), len(pods))
	}
	const want = "Deployment shop/app-0501: there are 500 profiles in its namespace already that were made like this"
	if !slices.Contains(got, want) {
		t.Errorf("nothing says %q", want)
	}
}

func TestPodsThatCannotBeListedAreAnError(t *testing.T) {
	t.Parallel()
	_, err := observations.Upkeep(&observations.UpkeepInput{
		Mode: func(string) string { return v1alpha1.ModeApply }, Unprofiled: []string{"Deployment shop/cart"},
		Pods: func(string) ([]corev1.Pod, error) { return nil, errors.New("no cache") },
	})
	if err == nil || err.Error() != "listing the pods of namespace shop: no cache" {
		t.Errorf("got %v", err)
	}
}
