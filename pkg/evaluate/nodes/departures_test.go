package nodes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/nodes"
	"loadline.dev/loadline/pkg/model/contention"
)

// held is a node of a core and a disk on which b is held up at the core by c, so that it is seldom at the disk that a needs.
func held() *nodes.Node {
	n := &nodes.Node{Name: "worker-1", Servers: []int{1, 1}, Allocatable: 2000}
	for _, p := range []struct {
		name, request string
		vector        contention.Vector
	}{
		{"a", "100m", contention.Loadings(0, 1)}, {"c", "1", contention.Loadings(1, 0)}, {"b", "1m", contention.Loadings(0.5, 0.5)},
	} {
		n.Pods, n.Vectors = append(n.Pods, pod(p.name, p.request)), append(n.Vectors, p.vector)
	}
	return n
}

// With all three there a is slowed down by hardly more than a hundredth, and by half once c, which holds b up, is gone.
func TestABoundThatADepartureWouldBreakIsExceeded(t *testing.T) {
	t.Parallel()
	bound := nodes.Bound{Max: 1.1, Mode: configv1alpha1.GuardEnforce}
	n := held()
	if now := dilations(t, n)[0]; now > 1.03 {
		t.Fatalf("with all there a is dilated %v times", now)
	}
	got := excesses(t, n, bound, nodes.Bound{}, nodes.Bound{})
	if len(got) != 1 || got[0].Pod != 0 || math.Abs(got[0].Dilation-1.5) > 1e-3 || math.Abs(got[0].Worst-1.5) > 1e-3 {
		t.Fatalf("got %+v", got)
	}
	e := got[0]
	if diff := cmp.Diff([]int{1}, e.Gone); diff != "" || e.Because != 2 || e.Resource != 1 || e.Bounded {
		t.Errorf("%+v (-want +got):\n%s", e, diff)
	}
	names := []string{"cpu", "disk"}
	for want, gone := range map[string][]string{
		"would slow it down 1.50×, more than its limit of 1.10×, because of disk, once shop/c is gone":            {"shop/c"},
		"would slow it down 1.50×, more than its limit of 1.10×, because of disk, once other pods there are gone": nil,
	} {
		if got := e.Reason("it", "1.50×", gone, names); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if raised := nodes.Raised(got, func(int) bool { return true }); math.Abs(raised-1.5) > 1e-3 {
		t.Errorf("a bound of %v would be enough", raised)
	}
	for name, bounds := range map[string][]nodes.Bound{
		"a bound that is enough":         {{Max: 1.51, Mode: configv1alpha1.GuardEnforce}, {}, {}},
		"none of the pod that is slowed": {{}, {Max: 1.1, Mode: configv1alpha1.GuardEnforce}, {}},
		"no bound":                       {{}, {}, {}},
	} {
		if got := excesses(t, n, bounds...); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What cannot be worked out is judged by what no departure makes worse.
func TestWhereDeparturesCannotBeWorkedOutWhatIsPossibleExceeds(t *testing.T) {
	t.Parallel()
	n := held()
	bound := nodes.Bound{Max: 1.1, Mode: configv1alpha1.GuardEnforce}
	first := true
	granted := func(float64) bool { // the node as it is, and no more
		was := first
		first = false
		return was
	}
	o := n.Outlook(granted)
	got := nodes.Exceeding(n, o, []nodes.Bound{bound, {}, {}}, func(bool) *nodes.Outlook { return n.Without(2).Outlook(nodes.Granted) }, granted)
	if o.Bounded() || len(got) != 1 || !got[0].Bounded || got[0].Dilation < 1.5 || got[0].Worst != got[0].Dilation {
		t.Errorf("got %+v", got)
	}
}

// randomNode draws a node of up to three other resources with a pod more in each step, that lets each pod in whose coming exceeds no
// bound. It returns the node, the bounds of its pods, and how many were refused, and of these how many because of departures alone.
func guardedNode(r *rand.Rand) (n *nodes.Node, bounds []nodes.Bound, refused, ahead int) {
	n = &nodes.Node{Name: "worker-1", Servers: []int{1 + r.IntN(3), 1, 1}[:2+r.IntN(2)], Allocatable: 4000}
	for k := range 3 + r.IntN(4) {
		v, left := make(contention.Vector, len(n.Servers)), 1.0
		for i := range v {
			v[i] = contention.Symmetric(left * []float64{0, 1, r.Float64(), r.Float64()}[r.IntN(4)])
			left -= v[i].Loading
		}
		with := n.With(pod(fmt.Sprint("p", k), []string{"1m", "50m", "2"}[r.IntN(3)]), v)
		bound := nodes.Bound{}
		if r.IntN(3) > 0 {
			bound = nodes.Bound{Max: 1.05 + r.Float64()*r.Float64(), Mode: configv1alpha1.GuardEnforce}
		}
		all := slices.Concat(bounds, []nodes.Bound{bound})
		found := nodes.Exceeding(with, with.Outlook(nodes.Granted), all, func(bool) *nodes.Outlook { return n.Outlook(nodes.Granted) }, nodes.Granted)
		if len(found) == 0 {
			n, bounds = with, all
			continue
		}
		refused++
		if found[0].Gone != nil || found[0].Bounded {
			ahead++
		}
	}
	return n, bounds, refused, ahead
}

// Whichever pods go, in whichever order, those that are left keep the bounds that were kept when they came.
func TestNoDepartureBreaksABound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(40, 2))
	taken, refused, ahead := 0, 0, 0
	for range 150 {
		n, bounds, no, early := guardedNode(r)
		taken, refused, ahead = taken+len(n.Pods), refused+no, ahead+early
		for set := 1; set < 1<<len(n.Pods); set++ {
			left, of := *n, []int(nil)
			left.Pods, left.Vectors = nil, nil
			for j := range n.Pods {
				if set>>j&1 == 1 {
					of = append(of, j)
					left.Pods, left.Vectors = append(left.Pods, n.Pods[j]), append(left.Vectors, n.Vectors[j])
				}
			}
			for k, dilation := range dilations(t, &left) {
				if most := bounds[of[k]].Max; most > 0 && dilation > most*(1+1e-6) {
					t.Errorf("pods %v of %+v on %v: %d is dilated %v times, its bound is %v", of, n.Vectors, n.Servers, of[k], dilation, most)
				}
			}
		}
	}
	t.Logf("%d pods were taken, %d refused, %d of them only because others may go", taken, refused, ahead)
	if taken == 0 || refused == 0 || ahead == 0 || ahead > refused/4 {
		t.Errorf("%d pods were taken, %d refused, %d of them only because others may go", taken, refused, ahead)
	}
}
