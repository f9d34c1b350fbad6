package observation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// shop is the namespace of the pods, with a label unless it is empty.
func shop(mode string) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "uid-of-shop"}}
	if mode != "" {
		n.Labels = map[string]string{v1alpha1.ObservedProfilesLabel: mode}
	}
	return n
}

// newShop returns a site where the pods of cart are of a Deployment, and the one of sort stands alone.
func newShop(t *testing.T, objects ...client.Object) *site {
	t.Helper()
	s := newSite(t, objects...)
	for _, name := range []string{"cart-1", "cart-2"} {
		p := &corev1.Pod{}
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, p); err != nil {
			t.Fatal(err)
		}
		p.Labels["pod-template-hash"] = "5d4f"
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "cart-5d4f", UID: "rs", Controller: new(true)}}
		if err := s.Client.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// minutes collects for some minutes, and has the index follow each write, as informers do.
func (s *site) minutes(t *testing.T, n int) {
	t.Helper()
	for range 2 * n {
		before := s.profiles(t)
		s.round(t)
		for i := range before {
			s.index.OnDelete(&before[i])
		}
		for _, p := range s.profiles(t) {
			s.index.OnAdd(&p, false)
		}
	}
}

func (s *site) profiles(t *testing.T) []v1alpha1.WorkloadProfile {
	t.Helper()
	var list v1alpha1.WorkloadProfileList
	if err := s.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// says returns the selector and the recommendation of each profile.
func (s *site) says(t *testing.T) []string {
	t.Helper()
	all := []string{}
	for _, p := range s.profiles(t) {
		text := fmt.Sprintf("%s %s for %s", p.Name, p.Spec.Observation.Mode, metav1.FormatLabelSelector(p.Spec.Selector))
		for _, o := range p.Status.Observations {
			text += fmt.Sprintf(", on %s %s of %s", o.NodeProfile, o.Recommended.CPULoading, o.CPULoading)
		}
		if meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionDrifted) != nil {
			text += ", drifted or not"
		}
		all = append(all, text)
	}
	return all
}

// cpu returns the loading that the scheduler takes a pod of cart for.
func (s *site) cpu(t *testing.T) float64 {
	t.Helper()
	snapshot := s.index.Snapshot()
	return snapshot.VectorOn("fast", pod("cart-1", "cart"))[snapshot.Resources().Processor()].Loading
}

func TestAWorkloadWithoutAProfileGetsOneThatFollowsWhatIsObserved(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(v1alpha1.ModeApply), fast())
	s.minutes(t, 4)
	if got := s.says(t); len(got) > 0 {
		t.Errorf("after four minutes: %v", got)
	}
	s.minutes(t, 2)
	if diff := cmp.Diff([]string{"deployment-cart apply for app=cart"}, s.says(t)); diff != "" {
		t.Errorf("after six minutes (-want +got):\n%s", diff)
	}
	if got := s.cpu(t); got != 0.1 {
		t.Errorf("before anything is recommended the loading is %v", got)
	}
	s.minutes(t, 6)
	// From the 0.1 of pods without a request to the 0.585 that is observed, a step of 0.1 every five minutes.
	if diff := cmp.Diff([]string{"deployment-cart apply for app=cart, on fast 200m of 585m"}, s.says(t)); diff != "" {
		t.Errorf("after twelve minutes (-want +got):\n%s", diff)
	}
	s.minutes(t, 6)
	if got := s.cpu(t); got != 0.3 {
		t.Errorf("after another step the loading is %v", got)
	}
	s.minutes(t, 40)
	if got := s.cpu(t); got < 0.55 || got > 0.62 {
		t.Errorf("in the end the loading is %v, and 0.585 was observed", got)
	}
}

// disk returns the loading at the disk that the scheduler takes a pod of cart for, on nodes of a class.
func (s *site) disk(class string) float64 {
	snapshot := s.index.Snapshot()
	return snapshot.VectorOn(class, pod("cart-1", "cart"))[slices.Index(snapshot.Resources().Names(), "disk")].Loading
}

func TestAProfileFollowsTheDiskByStepsOnceItIsObserved(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(v1alpha1.ModeApply), fast())
	s.loading.Store(200)
	s.minutes(t, 30)
	if r := s.profiles(t)[0].Status.Observations[0].Recommended; r.DiskLoading != nil {
		t.Errorf("of gauges that know nothing of disks it recommends %s", r.DiskLoading)
	}
	s.blocked.Store(500)
	last := 0.0
	for range 60 {
		s.minutes(t, 1)
		if now := s.disk("fast"); now < last || now > last+0.1+1e-9 {
			t.Errorf("the loading at the disk goes from %v to %v", last, now)
		} else {
			last = now
		}
	}
	if last < 0.45 || last > 0.5 {
		t.Errorf("in the end the loading at the disk is %v, and 0.5 was observed", last)
	}
	s.blocked.Store(-1)
	s.minutes(t, 30)
	if got := s.disk("fast"); got != last {
		t.Errorf("once gauges know nothing of disks any more it is %v, not what it was, %v", got, last)
	}
}

func TestADiskIsRecommendedOnlyWhereItsServersAreKnown(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(v1alpha1.ModeApply))
	s.blocked.Store(300)
	s.minutes(t, 30)
	if o := s.profiles(t)[0].Status.Observations[0]; o.DiskLoading.MilliValue() != 300 || o.Recommended.DiskLoading != nil {
		t.Errorf("%s is observed, and %s recommended", o.DiskLoading, o.Recommended.DiskLoading)
	}
}

func TestAdviceIsShownAndNotUsed(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(v1alpha1.ModeAdvise), fast())
	s.minutes(t, 60)
	if got := s.says(t); len(got) != 1 || !strings.HasPrefix(got[0], "deployment-cart advise for app=cart, on fast 5") {
		t.Errorf("got %v", got)
	}
	if got := s.cpu(t); got != 0.1 {
		t.Errorf("the loading is %v", got)
	}
}

func TestProfilesThatAreMadeFollowTheLabelOfTheirNamespace(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(v1alpha1.ModeApply), fast())
	s.minutes(t, 10)
	for _, c := range []struct{ label, want string }{
		{v1alpha1.ModeAdvise, "[deployment-cart advise for app=cart]"},
		{v1alpha1.ModeApply, "[deployment-cart apply for app=cart]"},
		{"", "[]"},
	} {
		if err := s.Client.Update(t.Context(), shop(c.label)); err != nil {
			t.Fatal(err)
		}
		s.minutes(t, 1)
		var got []string
		for _, text := range s.says(t) {
			text, _, _ = strings.Cut(text, ",")
			got = append(got, text)
		}
		if text := fmt.Sprint(got); text != c.want {
			t.Errorf("with the label %q: %s, want %s", c.label, text, c.want)
		}
	}
}

func TestANamespaceWithoutTheLabelFollowsTheDefault(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(""), fast())
	s.ObservedProfiles = v1alpha1.ModeAdvise
	s.minutes(t, 6)
	if diff := cmp.Diff([]string{"deployment-cart advise for app=cart"}, s.says(t)); diff != "" {
		t.Errorf("unexpected profiles (-want +got):\n%s", diff)
	}
}

func TestALabelThatIsNoModeIsToldOnceAndMeansOff(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop("on"), fast())
	s.ObservedProfiles = v1alpha1.ModeApply
	s.minutes(t, 10)
	if got := s.says(t); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if len(s.events) != 1 {
		t.Fatalf("%d events", len(s.events))
	}
	const want = `Warning InvalidLabel label loadline.dev/observed-profiles: "on" is not one of off, advise and apply; no profiles are made`
	if event := <-s.events; event != want {
		t.Errorf("got  %s\nwant %s", event, want)
	}
}

func TestWhatUsersTookOverStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := newShop(t, shop(v1alpha1.ModeApply), fast())
	s.minutes(t, 6)
	p := s.profiles(t)[0]
	p.Labels = nil
	if err := s.Client.Update(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	if err := s.Client.Update(t.Context(), shop(v1alpha1.ModeOff)); err != nil {
		t.Fatal(err)
	}
	s.minutes(t, 10)
	if got := s.says(t); len(got) != 1 || !strings.HasPrefix(got[0], "deployment-cart apply") {
		t.Errorf("got %v", got)
	}
}

func TestWritesThatOthersCameFirstWithAreNoErrors(t *testing.T) {
	t.Parallel()
	p, resource := declared("0.5"), schema.GroupResource{Group: "loadline.dev", Resource: "workloadprofiles"}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"none":      {nil, ""},
		"changed":   {apierrors.NewConflict(resource, "cart", errors.New("changed")), ""},
		"gone":      {apierrors.NewNotFound(resource, "cart"), ""},
		"forbidden": {apierrors.NewForbidden(resource, "cart", errors.New("no")), `making profile shop/cart: workloadprofiles.loadline.dev "cart" is forbidden: no`},
	} {
		got := ""
		if err := written("making", p, c.err); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
