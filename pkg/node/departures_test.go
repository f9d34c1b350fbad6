package node_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

// held is a node of a core and a disk on which b is held up at the core by c, so that it is seldom at the disk that a needs.
func held() *node.Node {
	n := &node.Node{Name: "worker-1", Servers: []int{1, 1}}
	for _, p := range []struct {
		name, request string
		vector        loading.Vector
	}{
		{"a", "100m", loading.Loadings(0, 1)}, {"c", "1", loading.Loadings(1, 0)}, {"b", "1m", loading.Loadings(0.5, 0.5)},
	} {
		n.Pods = append(n.Pods, node.Pod{Pod: pod(p.name, p.request), Vector: p.vector})
	}
	return n
}

// With all three there a is slowed down by hardly more than a hundredth, and by half once c, which holds b up, is gone.
func TestABoundThatADepartureWouldBreakIsExceeded(t *testing.T) {
	t.Parallel()
	bound := node.Bound{Max: 1.1, Mode: configv1alpha1.GuardEnforce}
	n := held()
	if now := dilations(t, n)[0]; now > 1.03 {
		t.Fatalf("with all there a is dilated %v times", now)
	}
	got := excesses(t, n, bound, node.Bound{}, node.Bound{})
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
	if raised := raise(got, 2, map[int]bool{0: true}); math.Abs(raised-1.5) > 1e-3 {
		t.Errorf("a bound of %v would be enough", raised)
	}
	for name, bounds := range map[string][]node.Bound{
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
	bound := node.Bound{Max: 1.1, Mode: configv1alpha1.GuardEnforce}
	first := true
	granted := func(float64) bool { // the node as it is, and no more
		was := first
		first = false
		return was
	}
	v := judge(n, granted, bound)
	if got := v.Excesses; v.Bounded || len(got) != 1 || !got[0].Bounded || got[0].Dilation < 1.5 || got[0].Worst != got[0].Dilation {
		t.Errorf("got %+v", got)
	}
}

// guardedNode draws a node of up to three resources with a pod more in each step, that lets each pod in whose coming exceeds no
// bound. It returns the node, and how many pods were refused, and of these how many because of departures alone.
func guardedNode(r *rand.Rand) (n *node.Node, refused, ahead int) {
	n = &node.Node{Name: "worker-1", Servers: []int{1 + r.IntN(3), 1, 1}[:2+r.IntN(2)]}
	for k := range 3 + r.IntN(4) {
		v, left := make(loading.Vector, len(n.Servers)), 1.0
		for i := range v {
			v[i] = loading.Symmetric(left * []float64{0, 1, r.Float64(), r.Float64()}[r.IntN(4)])
			left -= v[i].Loading
		}
		candidate := node.Pod{Pod: pod(fmt.Sprint("p", k), []string{"1m", "50m", "2"}[r.IntN(3)]), Vector: v}
		if r.IntN(3) > 0 {
			candidate.Bound = node.Bound{Max: 1.05 + r.Float64()*r.Float64(), Mode: configv1alpha1.GuardEnforce}
		}
		g := node.Guard{Node: n}
		found := g.Judge(candidate, 0, node.Granted).Excesses
		if len(found) == 0 {
			n = n.With(candidate)
			continue
		}
		refused++
		if found[0].Gone != nil || found[0].Bounded {
			ahead++
		}
	}
	return n, refused, ahead
}

// Whichever pods go, in whichever order, those that are left keep the bounds that were kept when they came.
func TestNoDepartureBreaksABound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(40, 2))
	taken, refused, ahead := 0, 0, 0
	for range 150 {
		n, no, early := guardedNode(r)
		taken, refused, ahead = taken+len(n.Pods), refused+no, ahead+early
		for set := 1; set < 1<<len(n.Pods); set++ {
			left, of := *n, []int(nil)
			left.Pods = nil
			for j := range n.Pods {
				if set>>j&1 == 1 {
					of, left.Pods = append(of, j), append(left.Pods, n.Pods[j])
				}
			}
			for k, dilation := range dilations(t, &left) {
				if most := left.Pods[k].Bound.Max; most > 0 && dilation > most*(1+1e-6) {
					t.Errorf("pods %v of %+v on %v: %d is dilated %v times, its bound is %v", of, n.Vectors(), n.Servers, of[k], dilation, most)
				}
			}
		}
	}
	t.Logf("%d pods were taken, %d refused, %d of them only because others may go", taken, refused, ahead)
	if taken == 0 || refused == 0 || ahead == 0 || ahead > refused/4 {
		t.Errorf("%d pods were taken, %d refused, %d of them only because others may go", taken, refused, ahead)
	}
}
