package who_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// collectedBy is how a server's special paths end at which it answers as a manager.
func collectedBy(pod string) string {
	return "namespaces/loadline-system/pods/https:" + pod + ":8443/proxy/v1/nodes/usage"
}

// managedServer is an API server of the slow cluster, whose gauges name a manager of two replicas. The first follows, and the
// second answers what collection says.
func managedServer(t *testing.T, collection func(r *http.Request) (any, error)) *clitest.Server {
	t.Helper()
	s := gaugedServer(t)
	for _, node := range []string{"worker-1", "worker-2", "worker-3"} {
		s.Pod("gauge-" + node).Annotations["loadline.dev/manager"] = "loadline-system"
	}
	for _, name := range []string{"manager-a", "manager-b"} {
		s.Objects = append(s.Objects, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "loadline-system", Name: name, Labels: map[string]string{
				"app.kubernetes.io/name": "any-manager", "app.kubernetes.io/part-of": "loadline",
			}},
			Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Command: []string{"loadline-manager"}, Ports: []corev1.ContainerPort{{Name: "https", ContainerPort: 8443}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	s.Special[collectedBy("manager-a")] = func(*http.Request) (any, error) { return nil, saysPod(503, "unavailable: "+usage.NotLeading) }
	s.Special[collectedBy("manager-b")] = func(r *http.Request) (any, error) {
		if got := r.Header.Get("Loadline-Token"); got != "for-readers" {
			return nil, apierrors.NewUnauthorized(fmt.Sprintf("token %q", got))
		}
		return collection(r)
	}
	return s
}

// saysPod is the API server's error for a pod's answer that is no Status.
func saysPod(code int, text string) error {
	return apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{Resource: "pods"}, "", text, 0, true)
}

// collection is a manager's answer about the slow cluster, after some change.
func collection(change func(reports []usage.Report) []usage.Report) func(*http.Request) (any, error) {
	return func(*http.Request) (any, error) {
		_, reports := slowCluster()
		if change != nil {
			reports = change(reports)
		}
		all := clitest.Lines{usage.Collection{AgeSeconds: 12}}
		for i := range reports {
			all = append(all, &reports[i])
		}
		return all, nil
	}
}

// ofGauges are the paths by which gauges are asked.
const ofGauges = "/api/v1/namespaces/loadline-gauge/pods/*"

func TestWhoAsksTheManagerInPlaceOfTheGauges(t *testing.T) {
	t.Parallel()
	var query string
	s := managedServer(t, func(r *http.Request) (any, error) {
		query = r.URL.RawQuery
		return collection(nil)(r)
	}).Refuse(ofGauges)
	code, stdout, stderr := s.Ask(t, "who")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if diff := cmp.Diff(clitest.Squeezed(slowed), clitest.Squeezed(stdout)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if query != "last=500" { // of 1,500 intervals in all
		t.Errorf("it asks for %s", query)
	}
	code, stdout, stderr = s.Ask(t, "who", "--node", "worker-1,worker-3")
	if code != 0 || query != "last=750&node=worker-1&node=worker-3" || strings.Contains(stdout, "web/api") {
		t.Errorf("of two nodes it asks for %s; exit code %d: %s%s", query, code, stdout, stderr)
	}
}

// What the manager has of the past is shown, though gauges have forgotten it.
func TestSinceGoesBackAsFarAsTheManagerRemembers(t *testing.T) {
	t.Parallel()
	s := managedServer(t, collection(func(reports []usage.Report) []usage.Report {
		for i := range reports {
			minute := reports[i].Intervals[0]
			minute.Seconds = 60
			reports[i].Intervals = append(slices.Repeat([]usage.Interval{minute}, 40), reports[i].Intervals...)
		}
		return reports
	}))
	code, stdout, stderr := s.Ask(t, "who")
	if code != 0 || !strings.Contains(clitest.Squeezed(stdout), "6.60 ± 0.00× shop/cart > 42m") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestTheGaugesAnswerWhereTheManagerDoesNotAndANoteSaysWhy(t *testing.T) {
	t.Parallel()
	const themselves = "Note: the gauges are asked themselves, because the manager does not answer for them: "
	fails := func(err error) func(*http.Request) (any, error) {
		return func(*http.Request) (any, error) { return nil, err }
	}
	answers := func(values ...any) func(*http.Request) (any, error) {
		return func(*http.Request) (any, error) { return clitest.Lines(values), nil }
	}
	for name, test := range map[string]struct {
		leader func(*http.Request) (any, error)
		change func(s *clitest.Server)
		note   string
	}{
		"no replica runs": {nil, func(s *clitest.Server) {
			s.Pod("manager-a").Status.Phase, s.Pod("manager-b").Status.Phase = corev1.PodPending, corev1.PodFailed
		}, themselves + "it does not run in namespace loadline-system"},
		"no replica leads":  {fails(saysPod(503, "unavailable: "+usage.NotLeading)), nil, themselves + "pod loadline-system/manager-a: unavailable: another replica leads"},
		"before a round":    {fails(saysPod(503, "unavailable: the gauges have not been asked yet")), nil, themselves + "pod loadline-system/manager-b: unavailable: the gauges have not been asked yet"},
		"no valid token":    {fails(saysPod(401, "unauthorized: the token is not valid")), nil, themselves + "pod loadline-system/manager-b: unauthorized: the token is not valid"},
		"no right to read":  {fails(saysPod(403, "forbidden: may not get /v1/usage")), nil, themselves + "pod loadline-system/manager-b: forbidden: may not get /v1/usage"},
		"no right to ask":   {nil, func(s *clitest.Server) { s.Refuse("/api/v1/namespaces/loadline-system/pods/*") }, "is forbidden: not for you"},
		"an old version":    {fails(saysPod(404, "404 page not found")), nil, themselves + "pod loadline-system/manager-b: 404 page not found"},
		"it stopped asking": {answers(usage.Collection{AgeSeconds: 600}), nil, themselves + "pod loadline-system/manager-b: it has not asked the gauges for 10m0s"},
		"an age below 0":    {answers(usage.Collection{AgeSeconds: -1}), nil, themselves + "pod loadline-system/manager-b: it answers what is no collection of reports: ageSeconds: -1 is not at least 0"},
		"something else":    {answers("down"), nil, themselves + "pod loadline-system/manager-b: it answers what is no collection of reports"},
		"nothing":           {answers(), nil, themselves + "pod loadline-system/manager-b: it answers what is no collection of reports: EOF"},
		"no reports":        {answers(usage.Collection{}, 7), nil, themselves + "pod loadline-system/manager-b: it answers what is no report"},
		"wrong reports": {collection(func(reports []usage.Report) []usage.Report {
			reports[1].Intervals[3].CPUs = 0
			return reports
		}), nil, themselves + "pod loadline-system/manager-b: it answers what is no report: intervals[3].cpus: 0 is less than 1"},
		"stale and missing reports": {collection(func(reports []usage.Report) []usage.Report {
			reports[0].AgeSeconds = 100
			reports[1].Intervals = nil
			return append(reports, usage.Report{}, reportOf("worker-9", 1, 0))
		}), nil, "Note: the manager answers for 1 of 3 gauges; the others are asked themselves, because it has nothing fresh of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.leader == nil {
				test.leader = collection(nil)
			}
			s := managedServer(t, test.leader)
			if test.change != nil {
				test.change(s)
			}
			code, stdout, stderr := s.Ask(t, "who")
			if code != 0 || !strings.Contains(stderr, test.note) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, %s\nwant %s", code, stderr, test.note)
			}
			if diff := cmp.Diff(clitest.Squeezed(slowed), clitest.Squeezed(stdout)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTheSourceCanBeChosen(t *testing.T) {
	t.Parallel()
	broken := func(*http.Request) (any, error) { return nil, saysPod(503, "unavailable: broken") }
	code, stdout, stderr := managedServer(t, broken).Ask(t, "top", "nodes", "--source", "gauges")
	if code != 0 || stderr != "" || !strings.Contains(clitest.Squeezed(stdout), "worker-3 1 75.0% 75.0% 25.0% 1 1 2s") {
		t.Errorf("gauges: exit code %d: %s%s", code, stdout, stderr)
	}
	code, _, stderr = managedServer(t, broken).Ask(t, "who", "--source", "manager")
	if code == 0 || !strings.HasPrefix(stderr, "Error: --source manager: pod loadline-system/manager-b: unavailable: broken") {
		t.Errorf("a manager that fails: exit code %d: %s", code, stderr)
	}
	code, _, stderr = gaugedServer(t).Ask(t, "who", "--source", "manager")
	if code == 0 || !strings.Contains(stderr, "no manager collects from the gauges") {
		t.Errorf("without a manager: exit code %d: %s", code, stderr)
	}
	s := managedServer(t, collection(func(reports []usage.Report) []usage.Report {
		reports[1].AgeSeconds = 100
		return reports[:2]
	})).Refuse(ofGauges)
	code, stdout, stderr = s.Ask(t, "who", "--source", "manager")
	for _, want := range []string{"Not observed: 2 of 3 nodes", "worker-2: its gauge has stopped observing", "worker-3: the manager has heard nothing of its gauge"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("what the manager alone has: exit code %d, %q is not in %s%s", code, want, stdout, stderr)
		}
	}
	for want, args := range map[string][]string{
		`Error: --source: "prometheus" is not one of auto, manager, gauges`:   {"--source", "prometheus"},
		"Error: --source: files are read in place of a cluster; leave it out": append([]string{"--source", "gauges"}, slowFiles(t)...),
	} {
		if code, _, stderr := clitest.Run(t, "", append([]string{"who"}, args...)...); code == 0 || !strings.HasPrefix(stderr, want) {
			t.Errorf("exit code %d: %s, want %s", code, stderr, want)
		}
	}
}

func TestTheStatusSaysWhoAnswersAboutWhatGaugesObserve(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(s *clitest.Server){
		"observations ok there are answers about 3 of 3 nodes, 3 of them from the manager": func(*clitest.Server) {},
		"observations warning there are answers about 3 of 3 nodes, 0 of them from the manager; the gauges are asked themselves, because the manager does not answer for them: pod loadline-system/manager-b: unavailable: broken": func(s *clitest.Server) {
			s.Special[collectedBy("manager-b")] = func(*http.Request) (any, error) { return nil, saysPod(503, "unavailable: broken") }
		},
		"observations ok there are answers about 3 of 3 nodes, 0 of them from the manager": func(s *clitest.Server) {
			for _, node := range []string{"worker-1", "worker-2", "worker-3"} {
				delete(s.Pod("gauge-"+node).Annotations, "loadline.dev/manager")
			}
		},
		"observations failed there are answers about 0 of 3 nodes, 0 of them from the manager; worker-1: its gauge does not answer": func(s *clitest.Server) {
			for path := range s.Special {
				if strings.Contains(path, "/proxy/") {
					s.Special[path] = func(*http.Request) (any, error) {
						return nil, saysPod(403, "forbidden: the user of the token may not get it")
					}
				}
			}
		},
		`refused answers warning of the gauges of 1 node: worker-2: intervals[0].pods[0].uid: "\x1b[2J\nOK" is not from 1 to 64 letters, digits and dashes`: func(s *clitest.Server) {
			s.Special[collectedBy("manager-b")] = collection(func(reports []usage.Report) []usage.Report { return append(reports[:1:1], reports[2:]...) })
			s.Special[answersOf("loadline-gauge", "gauge-worker-2")] = func(*http.Request) (any, error) {
				lie := reportOf("worker-2", 1, 0, observed("cart", 0.6, 0.5, 0))
				lie.Intervals[0].Pods[0].UID = "\x1b[2J\nOK"
				return &lie, nil
			}
		},
		"refused answers warning of the gauges of 9 nodes: worker-2: cpus: 0; worker-7: it lies; and 7 more": func(s *clitest.Server) {
			s.Special[collectedBy("manager-b")] = func(r *http.Request) (any, error) {
				answer, err := collection(nil)(r)
				if all, is := answer.(clitest.Lines); is {
					all[0] = usage.Collection{Refused: []usage.Refusal{{Node: "worker-7", Reason: "it lies"}, {Node: "worker-2", Reason: "cpus: 0"}}, RefusedBesides: 7}
				}
				return answer, err
			}
		},
		"observations warning cannot tell: asking for a token of service account loadline-gauge/loadline-reader": func(s *clitest.Server) {
			s.Refuse("/api/v1/namespaces/loadline-gauge/serviceaccounts/*")
		},
		"observations warning cannot tell: worker-1: its gauge does not answer: api/v1/namespaces/loadline-gauge/pods/": func(s *clitest.Server) {
			s.Refuse(ofGauges, "/api/v1/namespaces/loadline-system/pods/*")
		},
	} {
		s := managedServer(t, collection(nil))
		s.Objects = append(s.Objects, clitest.GaugesOn(3))
		for path, answer := range s.Special { // of another number of intervals than who asks for
			if strings.Contains(path, "/proxy/v1/usage") {
				s.Special[path] = func(r *http.Request) (any, error) {
					r.URL.RawQuery = "last=30"
					return answer(r)
				}
			}
		}
		change(s)
		_, stdout, stderr := s.Ask(t, "status")
		if !strings.Contains(clitest.Squeezed(stdout), want) {
			t.Errorf("%q is not in:\n%s%s", want, stdout, stderr)
		}
	}
}
