//go:build perf

package manager

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/text"
)

var profiles = flag.Int("perf-profiles", 5000, "how many WorkloadProfiles, at least 1")

// writers is how many clients create profiles at once.
const writers = 16

// setting is a kind of profiles, and in how many namespaces they are.
type setting struct {
	name             string
	namespaces       int
	measured, shared bool
}

// BenchmarkProfiles measures every setting once and prints a table.
func BenchmarkProfiles(b *testing.B) {
	if *profiles < 1 {
		b.Fatalf("-perf-profiles=%d is not at least 1", *profiles)
	}
	must(b, flag.Set("test.benchtime", "1x")) // profiles become Ready once, however long that takes
	log.SetLogger(klog.Background())          // for envtest
	table := text.NewTable(text.Left("PROFILES"), text.Left("PHASE"), text.Right("SECONDS"), text.Right("PER SECOND"),
		text.Right("MANAGER MS"), text.Right("SERVER MS"), text.Right("REQUESTS"), text.Right("CONFLICTS"), text.Right("MEMORY MIB"))
	for _, s := range []setting{
		{name: "declared", namespaces: 1},
		{name: "spread", namespaces: 100},
		{name: "measured", namespaces: 1, measured: true},
		{name: "shared", namespaces: 1, shared: true},
	} {
		b.Run(s.name, func(b *testing.B) {
			s.measure(b, func(phase string, n int, seconds float64, used usage) {
				each := func(x float64) string { return fmt.Sprintf("%.2f", x/float64(n)) }
				table.Add(s.name, phase, fmt.Sprintf("%.1f", seconds), fmt.Sprintf("%.0f", float64(n)/seconds),
					each(1000*used.manager), each(1000*used.server), each(used.requests), each(used.refused), fmt.Sprintf("%.0f", used.memory/(1<<20)))
			})
		})
	}
	must(b, table.Write(os.Stdout))
}

// measure runs the phases that the package comment describes and hands on the figures
// of each.
func (s *setting) measure(b *testing.B, add func(phase string, profiles int, seconds float64, used usage)) {
	b.Helper()
	site := newSite(b)
	s.create(b, site)
	seconds, used := site.phase(b, *profiles, 1, func() { site.startManager(b) })
	add("present", *profiles, seconds, used)

	site = newSite(b)
	site.startManager(b)
	seconds, used = site.phase(b, *profiles, 1, func() { s.create(b, site) })
	add("created", *profiles, seconds, used)

	site.awaitQuiet(b)
	seconds, used = site.phase(b, 1, 2, func() {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"resources":[{"name":"cpu","loading":"0.6"}]}}`))
		must(b, site.Patch(b.Context(), s.profile(0), patch))
	})
	add("changed", 1, seconds, used)
}

// create creates the profiles, and what they are in.
func (s *setting) create(b *testing.B, site *site) {
	b.Helper()
	for i := range s.namespaces {
		must(b, site.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.profile(i).Namespace}}))
	}
	if s.shared {
		must(b, site.Create(b.Context(), &v1alpha1.ShareTree{ObjectMeta: metav1.ObjectMeta{Name: "company"}, Spec: v1alpha1.ShareTreeSpec{Processors: new(int32(64)), Namespaces: []string{s.profile(0).Namespace}}}))
	}
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(writers)
	for i := range *profiles {
		group.Go(func() error { return site.Create(ctx, s.profile(i)) })
	}
	must(b, group.Wait())
}

// profile returns a profile of the setting, by its number.
func (s *setting) profile(i int) *v1alpha1.WorkloadProfile {
	name := fmt.Sprintf("workload-%05d", i)
	p := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("perf-%03d", i%s.namespaces), Name: name},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Resources: []v1alpha1.ResourceDemand{
				{Name: "cpu", Loading: new(resource.MustParse("0.58"))}, {Name: "disk", Loading: new(resource.MustParse("0.42"))},
			},
		},
	}
	if s.measured {
		p.Spec.Measurement = &v1alpha1.Measurement{
			Resources: []v1alpha1.ProbedResource{{Name: "cpu"}},
			Target:    &v1alpha1.MeasurementTarget{Kind: v1alpha1.TargetJob, Name: name},
		}
	}
	if s.shared {
		p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Share: new(int32(i%5 + 1)), Utilization: new(resource.MustParse("0.001"))}
	}
	return p
}
