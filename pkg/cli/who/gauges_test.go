package who_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/cli/clitest"
)

// calls keeps which special paths a server was asked for.
type calls struct {
	mutex sync.Mutex
	made  []string
}

// keep has a server answer a special path, and keeps that it was asked.
func (c *calls) keep(s *clitest.Server, path string, answer func(*http.Request) (any, error)) {
	s.Special[path] = func(r *http.Request) (any, error) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.made = append(c.made, path)
		return answer(r)
	}
}

// imitations are the imitations of a gauge by a user who may create pods in the namespace etl, but no privileged ones.
var imitations = map[string]func(*corev1.Pod){
	"without the node's processes":             func(p *corev1.Pod) { p.Spec.HostPID = false },
	"without an owner":                         func(p *corev1.Pod) { p.OwnerReferences = nil },
	"of a Deployment":                          func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" },
	"of a DaemonSet that does not control it":  func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil },
	"of a kind of the user's own of that name": func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "etl.example/v1" },
}

// lie is a report that makes a pod of worker-2 the victim of another.
func lie() (any, error) {
	r := reportOf("worker-2", 2, 0, observed("api", 0.5, 0.9, 0))
	return &r, nil
}

func TestAPodWithTheLabelsOfAGaugeIsNotAskedAndGetsNoToken(t *testing.T) {
	t.Parallel()
	for name, imitate := range imitations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := gaugedServer(t), &calls{}
			imitation := gaugePod("etl", "a-gauge", "worker-2") // comes before the node's own gauge
			imitate(imitation)
			s.Objects = append(s.Objects, imitation)
			c.keep(s, answersOf("etl", imitation.Name), func(*http.Request) (any, error) { return lie() })
			c.keep(s, tokensOf("etl", "loadline-reader"), func(*http.Request) (any, error) { return tokenRequest("for-etl"), nil })
			code, stdout, stderr := s.Ask(t, "who")
			if diff := cmp.Diff(clitest.Squeezed(slowed), clitest.Squeezed(stdout)); code != 0 || diff != "" {
				t.Errorf("exit code %d, %s (-want +got):\n%s", code, stderr, diff)
			}
			if len(c.made) > 0 {
				t.Errorf("it was asked for %q", c.made)
			}
		})
	}
}

// The namespace etl is the user's own, so its pods are found even by those who may not list all pods.
func TestWhoSaysThatThereAreOnlyImitationsOfGauges(t *testing.T) {
	t.Parallel()
	objects, _ := slowCluster()
	imitation := gaugePod("etl", "a-gauge", "worker-2")
	imitation.Spec.HostPID = false
	s := clitest.NewServer(t, append(objects, imitation)...).Refuse("/api/v1/pods")
	code, _, stderr := s.Ask(t, "who")
	if code == 0 || !strings.Contains(stderr, "there is no gauge in the cluster") || !strings.Contains(stderr, "pod etl/a-gauge has the labels of one") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A user who runs gauges in a second namespace gets no token of the first.
func TestEachGaugeIsShownATokenOfItsOwnNamespaceThatIsMadeOnce(t *testing.T) {
	t.Parallel()
	s, c := gaugedServer(t), &calls{}
	s.Objects = append(s.Objects, observedNode("worker-4", "1"), observedNode("worker-5", "1"), observedPod("shop", "mail", "worker-4", "50m", ""))
	for _, node := range []string{"worker-4", "worker-5"} {
		s.Objects = append(s.Objects, gaugePod("lab", "gauge-"+node, node))
		s.Special[answersOf("lab", "gauge-"+node)] = func(r *http.Request) (any, error) {
			if got := r.Header.Get("Loadline-Token"); got != "for-lab" {
				t.Errorf("the gauge of %s is shown %q", node, got)
			}
			report := reportOf(node, 1, 0, observed("mail", 0.6, 0, 0))
			return &report, nil
		}
	}
	c.keep(s, tokensOf("lab", "loadline-reader"), func(*http.Request) (any, error) { return tokenRequest("for-lab"), nil })
	c.keep(s, tokensOf("loadline-gauge", "loadline-reader"), s.Special[tokensOf("loadline-gauge", "loadline-reader")])
	code, stdout, stderr := s.Ask(t, "who")
	if code != 0 || strings.Contains(stdout, "Not observed") {
		t.Errorf("exit code %d, %s\n%s", code, stderr, stdout)
	}
	want := []string{tokensOf("loadline-gauge", "loadline-reader"), tokensOf("lab", "loadline-reader")} // in the order of the nodes
	if diff := cmp.Diff(want, c.made); diff != "" {
		t.Errorf("unexpected requests for tokens (-want +got):\n%s", diff)
	}
}
