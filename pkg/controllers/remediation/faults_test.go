package remediation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// meanwhile has something happen once a change is in a step.
func meanwhile(step string, happens func(*testing.T, *world)) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		w.until(t, "change", func(r *v1alpha1.Remediation) bool { return remediations.Step(r) == step })
		happens(t, w)
	}
}

// setLimit has a user give the pod another limit.
func setLimit(to string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		pod := w.pod(t, "cart-1")
		pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse(to)
		if err := w.Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
}

// remove has a pod vanish, and no other one take its place.
func remove(name string) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		t.Helper()
		w.controllers = nil
		if err := w.Delete(t.Context(), w.pod(t, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func forbidden(message string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "cart-1", errors.New(message))
}

// always answers the same.
func always(err error) func(int) error { return func(int) error { return err } }

// first answers an error the first n times.
func first(n int, err error) func(int) error {
	return func(i int) error {
		if i < n {
			return err
		}
		return nil
	}
}

func TestWhatAChangeHasWonIsSaidInAWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, automatic(), cart(), raise())
	if r := w.run(t); r.Status.Predicted != "0.50 (0.40 to 0.60)" || r.Status.Win != "0.50 (0.40 to 0.60)" || r.Status.Realized.Win.String() != "500m" {
		t.Errorf("predicted is %q, won %q, or %+v", r.Status.Predicted, r.Status.Win, r.Status.Realized)
	}
}

func TestEveryFaultIsSaidInACondition(t *testing.T) {
	t.Parallel()
	unavailable := apierrors.NewServiceUnavailable("the server is starting")
	notJudged := func(int) (Judgement, error) { return Judgement{Unknown: "no gauge of node-1 answers"}, nil }
	for name, test := range map[string]struct {
		change  *v1alpha1.Remediation
		before  func(*testing.T, *world)
		want    []string // the conditions but for Approved
		says    string   // the message of Complete has it
		limit   string   // of the pod in the end, "" for none
		evicted int
	}{
		"the API server is away for minutes while the pod is resized": {
			change: raise(), before: func(_ *testing.T, w *world) { w.refuseResize = first(20, unavailable) },
			want: []string{"Applied=True/Resized", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won 0.50 (0.40 to 0.60), predicted 0.50", limit: "1",
		},
		"the API server is away for minutes while the pod is evicted": {
			change: move(), before: func(_ *testing.T, w *world) { w.refuseEviction = first(20, unavailable) },
			want: []string{"Applied=True/OnTarget", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won 0.50", limit: "300m", evicted: 1,
		},
		"a quota refuses the resize": {
			change: raise(), before: func(_ *testing.T, w *world) { w.refuseResize = always(forbidden("exceeded quota: team")) },
			want: []string{"Applied=False/Refused", "Complete=True/Failed"}, says: `the pod cannot be resized: pods "cart-1" is forbidden: exceeded quota: team`, limit: "300m",
		},
		"a LimitRange refuses the resize": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.refuseResize = always(forbidden("maximum cpu usage per Container is 500m, but limit is 1"))
			},
			want: []string{"Applied=False/Refused", "Complete=True/Failed"}, says: "maximum cpu usage per Container is 500m", limit: "300m",
		},
		"a webhook would change the resize": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.admit = func(pod *corev1.Pod) {
					pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("800m")
				}
			},
			want: []string{"Applied=False/Altered", "Complete=True/Failed"}, says: "an admission webhook would change the amounts that are asked for: app has a CPU request of 100m and a limit of 800m", limit: "300m",
		},
		"a webhook that cannot be tried changes the resize": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.refuseResize = always(apierrors.NewBadRequest("admission webhook \"vpa\" does not support dry run"))
				w.admit = func(pod *corev1.Pod) {
					pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("800m")
				}
			},
			want: []string{"Applied=False/Altered", "Complete=True/Failed"}, says: "neither what it had nor what was asked for: a user or a webhook set that, and it stays", limit: "800m",
		},
		"the kubelet has no room, and then it has": {
			change: raise(), before: func(_ *testing.T, w *world) {
				n, full := 0, says(corev1.PodResizePending, corev1.PodReasonDeferred, "node didn't have enough resource: cpu")
				w.kubelet = func(pod *corev1.Pod) {
					if n++; n < 20 {
						full(pod)
					} else {
						follows(pod)
					}
				}
			},
			want: []string{"Applied=True/Resized", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won", limit: "1",
		},
		"the kubelet never has room": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.kubelet = says(corev1.PodResizePending, corev1.PodReasonDeferred, "node didn't have enough resource: cpu")
			},
			want: []string{"Applied=False/Deferred", "Complete=True/Failed", "RolledBack=True/RolledBack"}, says: "for 5m0s: node didn't have enough resource: cpu; container app has a CPU request of 100m and a limit of 300m again", limit: "300m",
		},
		"the kubelet meets an error": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.kubelet = says(corev1.PodResizeInProgress, corev1.PodReasonError, "cannot write cpu.max")
			},
			want: []string{"Applied=False/ResizeFailed", "Complete=True/Failed", "RolledBack=True/RolledBack"}, says: "not done within 5m0s: cannot write cpu.max", limit: "300m",
		},
		"the kubelet is silent": {
			change: raise(), before: func(_ *testing.T, w *world) { w.kubelet = nil },
			want: []string{"Applied=False/ResizeFailed", "Complete=True/Failed", "RolledBack=True/RolledBack"}, says: "the kubelet of node node-1 has not followed", limit: "300m",
		},
		"the pod vanishes before": {
			change: raise(), before: remove("cart-1"),
			want: []string{"Complete=True/Obsolete"}, says: "pod cart-1 is gone",
		},
		"the pod is made anew under the same name before": {
			change: raise(func(r *v1alpha1.Remediation) { r.Spec.Pod.UID = "another" }), before: func(*testing.T, *world) {},
			want: []string{"Complete=True/Obsolete"}, says: "pod cart-1 is gone", limit: "300m",
		},
		"the pod vanishes while it is resized": {
			change: raise(), before: func(t *testing.T, w *world) {
				t.Helper()
				w.kubelet = nil
				meanwhile(v1alpha1.ReasonResizing, remove("cart-1"))(t, w)
			},
			want: []string{"Applied=False/PodGone", "Complete=True/Failed"}, says: "pod cart-1 has ended, or was deleted, while it was resized",
		},
		"the pod vanishes while it is observed": {
			change: raise(), before: meanwhile(v1alpha1.ReasonObserving, remove("cart-1")),
			want: []string{"Applied=True/Resized", "Complete=True/Unproven", "Proven=Unknown/PodGone"}, says: "pod cart-1 is gone, and with it the change",
		},
		"a user changes the pod before": {
			change: raise(), before: setLimit("500m"),
			want: []string{"Complete=True/Obsolete"}, says: "container app has a CPU request of 100m and a limit of 500m, not what it had when the change was proposed", limit: "500m",
		},
		"a user changes the pod while it is observed": {
			change: raise(), before: meanwhile(v1alpha1.ReasonObserving, setLimit("2")),
			want: []string{"Applied=True/Resized", "Complete=True/Unproven", "Proven=Unknown/Altered"}, says: "a user or a webhook has set that since, and it stays", limit: "2",
		},
		"a user changes the pod while it is rolled back": {
			change: raise(), before: func(t *testing.T, w *world) {
				t.Helper()
				w.judgement = func(int) (Judgement, error) { return Judgement{High: 0}, nil }
				meanwhile(v1alpha1.ReasonRollingBack, setLimit("2"))(t, w)
			},
			want: []string{"Applied=True/Resized", "Complete=True/Failed", "Proven=False/NotWon", "RolledBack=False/Altered"}, says: "and it stays", limit: "2",
		},
		"the roll-back is refused for good": {
			change: raise(), before: func(t *testing.T, w *world) {
				t.Helper()
				w.judgement = func(int) (Judgement, error) { return Judgement{High: 0}, nil }
				meanwhile(v1alpha1.ReasonRollingBack, func(_ *testing.T, w *world) { w.refuseResize = always(forbidden("exceeded quota: team")) })(t, w)
			},
			want: []string{"Applied=True/Resized", "Complete=True/Failed", "Proven=False/NotWon", "RolledBack=False/RollBackFailed"}, says: "the change cannot be undone: pods \"cart-1\" is forbidden: exceeded quota: team", limit: "1",
		},
		"the roll-back is refused for a while": {
			change: raise(), before: func(t *testing.T, w *world) {
				t.Helper()
				w.judgement = func(int) (Judgement, error) { return Judgement{High: 0}, nil }
				meanwhile(v1alpha1.ReasonRollingBack, func(_ *testing.T, w *world) { w.refuseResize = first(10, forbidden("exceeded quota: team")) })(t, w)
			},
			want: []string{"Applied=True/Resized", "Complete=True/RolledBack", "Proven=False/NotWon", "RolledBack=True/RolledBack"}, says: "won nothing: 0.00 (0.00 to 0.00), predicted 0.50", limit: "300m",
		},
		"neighbours pay more than was predicted": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.judgement = func(int) (Judgement, error) {
					return Judgement{Win: 0.3, Low: 0.2, High: 0.4, CostsOthers: "etl/sort-2 pays 0.30 and was to pay 0.05"}, nil
				}
			},
			want: []string{"Applied=True/Resized", "Complete=True/RolledBack", "Proven=False/CostsOthers", "RolledBack=True/RolledBack"}, says: "etl/sort-2 pays 0.30 and was to pay 0.05", limit: "300m",
		},
		"the interval holds no win": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.judgement = func(int) (Judgement, error) { return Judgement{Win: 0.1, Low: -0.1, High: 0.3}, nil }
			},
			want: []string{"Applied=True/Resized", "Complete=True/Succeeded", "Proven=Unknown/Inconclusive"}, says: "the change stays, and it is not certain that it won: 0.10 (-0.10 to 0.30), predicted 0.50", limit: "1",
		},
		"gauges are silent for a while": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.judgement = func(n int) (Judgement, error) {
					if n < 10 {
						return notJudged(n)
					}
					return Judgement{Win: 0.5, Low: 0.4, High: 0.6}, nil
				}
			},
			want: []string{"Applied=True/Resized", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won 0.50", limit: "1",
		},
		"gauges are silent for good": {
			change: raise(), before: func(_ *testing.T, w *world) { w.judgement = notJudged },
			want: []string{"Applied=True/Resized", "Complete=True/Unproven", "Proven=Unknown/NotObserved"}, says: "what it won was not observed within 1h0m0s: no gauge of node-1 answers", limit: "1",
		},
		"it can never be known": {
			change: raise(), before: func(_ *testing.T, w *world) {
				w.judgement = func(n int) (Judgement, error) {
					if n > 0 {
						return Judgement{}, errors.New("it is asked again")
					}
					return Judgement{Unknown: "the manager was restarted", Final: true}, nil
				}
			},
			want: []string{"Applied=True/Resized", "Complete=True/Unproven", "Proven=Unknown/NotObserved"}, says: "what it won cannot be known: the manager was restarted", limit: "1",
		},
		"a disruption budget is in the way for good": {
			change: move(), before: func(_ *testing.T, w *world) {
				w.refuseEviction = always(apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10))
			},
			want: []string{"Applied=False/DisruptionBudget", "Complete=True/Failed"}, says: "not within 10m0s: the pod may not be evicted now: Cannot evict pod as it would violate the pod's disruption budget.", limit: "300m",
		},
		"the eviction is forbidden": {
			change: move(), before: func(_ *testing.T, w *world) { w.refuseEviction = always(forbidden("no")) },
			want: []string{"Applied=False/Refused", "Complete=True/Failed"}, says: "the pod cannot be evicted: ", limit: "300m",
		},
		"two disruption budgets are in the way": {
			change: move(), before: func(_ *testing.T, w *world) {
				w.refuseEviction = always(apierrors.NewInternalError(errors.New("this pod has more than one PodDisruptionBudget")))
			},
			want: []string{"Applied=False/Refused", "Complete=True/Failed"}, says: "this pod has more than one PodDisruptionBudget", limit: "300m",
		},
		"the pod goes elsewhere": {
			change: move(func(r *v1alpha1.Remediation) { r.Spec.Change.ToNode = "node-3" }), before: func(*testing.T, *world) {},
			want: []string{"Applied=True/Elsewhere", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won", limit: "300m", evicted: 1,
		},
		"no pod takes the place of the evicted one": {
			change: move(), before: func(_ *testing.T, w *world) { w.controllers = nil },
			want: []string{"Applied=False/NotReplaced", "Complete=True/Failed"}, says: "its controller made no other one", evicted: 1,
		},
		"the pod in its place is never ready": {
			change: move(), before: func(_ *testing.T, w *world) {
				w.controllers = func(w *world) {
					w.replace()
					w.unready("cart-2", "0/3 nodes are available")
				}
			},
			want: []string{"Applied=False/NotReplaced", "Complete=True/Failed"}, says: "the pod was evicted, and cart-2 in its place is not ready: 0/3 nodes are available", limit: "300m", evicted: 1,
		},
		"the node goes while the pod moves": {
			change: move(), before: func(t *testing.T, w *world) {
				t.Helper()
				lost := false
				w.controllers = func(w *world) {
					w.replace()
					if pod := w.pod(t, "cart-2"); pod != nil && !lost { // with its node, before it is ready
						lost = true
						if err := errors.Join(w.Delete(t.Context(), pod), w.Create(t.Context(), podOn("cart-3", "node-3", w.clock.Now()))); err != nil {
							t.Error(err)
						}
					}
				}
			},
			want: []string{"Applied=True/Elsewhere", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won", evicted: 1,
		},
		"the pod in its place vanishes while it is observed": {
			change: move(), before: meanwhile(v1alpha1.ReasonObserving, remove("cart-2")),
			want: []string{"Applied=True/OnTarget", "Complete=True/Unproven", "Proven=Unknown/PodGone"}, says: "cart-2, the pod in the place of the evicted one, is gone", evicted: 1,
		},
		"a move did not win": {
			change: move(), before: func(_ *testing.T, w *world) {
				w.judgement = func(int) (Judgement, error) { return Judgement{Win: -1, Low: -2, High: -0.5}, nil }
			},
			want: []string{"Applied=True/OnTarget", "Complete=True/Failed", "Proven=False/NotWon"}, says: "won nothing: -1.00 (-2.00 to -0.50), predicted 0.50; a move cannot be undone", limit: "300m", evicted: 1,
		},
		"nothing owns the pod": {
			change: move(), before: func(t *testing.T, w *world) {
				t.Helper()
				pod := w.pod(t, "cart-1")
				pod.OwnerReferences = nil
				if err := w.Update(t.Context(), pod); err != nil {
					t.Fatal(err)
				}
			},
			want: []string{"Complete=True/Failed"}, says: "nothing owns the pod: it would not be made anew", limit: "300m",
		},
		"the policy is gone while the pod is observed": {
			change: raise(), before: meanwhile(v1alpha1.ReasonObserving, func(t *testing.T, w *world) {
				t.Helper()
				if err := w.Delete(t.Context(), automatic()); err != nil {
					t.Fatal(err)
				}
			}),
			want: []string{"Applied=True/Resized", "Complete=True/Succeeded", "Proven=True/Won"}, says: "won", limit: "1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cart(), automatic(), test.change)
			test.before(t, w)
			r := w.run(t)
			var got []string
			for _, c := range conditions(r) {
				if !strings.HasPrefix(c, "Approved=") {
					got = append(got, c)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if said := message(r, v1alpha1.ConditionComplete); !strings.Contains(said, test.says) {
				t.Errorf("it says %q, want %q", said, test.says)
			}
			if test.limit != "" {
				pod := w.pod(t, "cart-1")
				if pod == nil {
					pod = w.pod(t, "cart-2")
				}
				if got := limit(pod); got != test.limit {
					t.Errorf("the limit is %s, want %s", got, test.limit)
				}
			}
			if w.evictions != test.evicted {
				t.Errorf("%d evictions, want %d", w.evictions, test.evicted)
			}
		})
	}
}

// unready keeps a pod from being ready.
func (w *world) unready(name, why string) {
	var pod corev1.Pod
	if err := w.Get(w.ctx(), client.ObjectKey{Namespace: "shop", Name: name}, &pod); err != nil {
		return
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: why}}
	if err := w.Client.Status().Update(w.ctx(), &pod); err != nil {
		panic(err)
	}
}

// label labels a namespace.
func (w *world) label(t *testing.T, namespace, value string) {
	t.Helper()
	var n corev1.Namespace
	if err := w.Get(t.Context(), client.ObjectKey{Name: namespace}, &n); err != nil {
		t.Fatal(err)
	}
	metav1.SetMetaDataLabel(&n.ObjectMeta, v1alpha1.RemediationLabel, value)
	if err := w.Update(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsDoneWhileTheSwitchIsOff(t *testing.T) {
	t.Parallel()
	nothing := func(int) (Judgement, error) { return Judgement{}, nil }
	for _, namespace := range []string{"loadline-system", "shop"} {
		for name, test := range map[string]struct {
			change *v1alpha1.Remediation
			until  string // the step in which the switch is turned off
			wait   func(*world)
			want   string // the outcome once it is on again
		}{
			"before a change is started": {raise(), "", func(*world) {}, v1alpha1.ReasonSucceeded},
			"while a pod may not be evicted": {move(), v1alpha1.ReasonEvicting, func(w *world) {
				w.refuseEviction = first(1, apierrors.NewTooManyRequests("the disruption budget", 10))
			}, v1alpha1.ReasonSucceeded},
			"before a change is rolled back": {raise(), v1alpha1.ReasonRollingBack, func(w *world) { w.judgement = nothing }, v1alpha1.ReasonRolledBack},
		} {
			t.Run(namespace+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cart(), automatic(), test.change.DeepCopy())
				test.wait(w)
				w.until(t, "change", func(r *v1alpha1.Remediation) bool { return remediations.Step(r) == test.until })
				w.label(t, namespace, v1alpha1.RemediationOff)
				resizes, asked := w.resizes, w.askedEvictions
				for range 40 { // longer than any step may take
					if err := w.step(t, "change"); err != nil {
						t.Fatal(err)
					}
				}
				if w.resizes != resizes || w.askedEvictions != asked {
					t.Errorf("%d resizes and %d evictions while the switch is off", w.resizes-resizes, w.askedEvictions-asked)
				}
				r := w.change(t, "change")
				if said := message(r, v1alpha1.ConditionComplete); said != "nothing is done while namespace "+namespace+" has the label loadline.dev/remediation=off" || remediations.Complete(r) {
					t.Errorf("it says %q", said)
				}
				w.label(t, namespace, "on")
				if got := remediations.Step(w.run(t)); got != test.want {
					t.Errorf("it comes to %s, want %s: %s", got, test.want, message(w.change(t, "change"), v1alpha1.ConditionComplete))
				}
			})
		}
	}
}

func TestAChangeIsSaidInEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    *v1alpha1.Remediation
		judgement Judgement
		want      []string
	}{
		"a resize that wins":     {raise(), Judgement{Win: 0.5, Low: 0.4, High: 0.6}, []string{"Started", "Resized", "Won"}},
		"a resize that does not": {raise(), Judgement{}, []string{"Started", "Resized", "RolledBack"}},
		"a move that does not":   {move(), Judgement{}, []string{"Started", "OnTarget", "Failed"}},
		"one that came too late": {raise(func(r *v1alpha1.Remediation) { r.CreationTimestamp = metav1.NewTime(noon.Add(-2 * time.Hour)) }), Judgement{}, []string{"Expired"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, cart(), automatic(), test.change)
			w.judgement = func(int) (Judgement, error) { return test.judgement, nil }
			w.run(t)
			if diff := cmp.Diff(test.want, w.emitted()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTwoPodsThatMoveAreEachReplacedByOneOfTheirOwn(t *testing.T) {
	t.Parallel()
	second := move(func(r *v1alpha1.Remediation) {
		r.Name, r.UID = "second", "uid-second"
		r.Spec.Pod = v1alpha1.RemediationPod{Name: "cart-b", UID: "uid-cart-b", Node: "node-8"}
	})
	w := newWorld(t, cart(), podOn("cart-b", "node-8", noon.Add(-time.Hour)), move(), second, automatic(func(s *v1alpha1.RemediationPolicySpec) {
		s.Budget = &v1alpha1.RemediationBudget{PerWorkload: new(int32(2)), PerNode: new(int32(2))}
	}))
	made := 0
	w.controllers = func(w *world) {
		var pods corev1.PodList
		if err := w.List(w.ctx(), &pods); err != nil {
			t.Error(err)
		}
		for range 2 - len(pods.Items) {
			made++
			if err := w.Create(w.ctx(), podOn(fmt.Sprintf("new-%d", made), "node-2", w.clock.Now())); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range []string{"change", "second"} {
		w.until(t, name, func(r *v1alpha1.Remediation) bool { return remediations.Step(r) == v1alpha1.ReasonReplacing })
	}
	places := map[string]bool{}
	for _, name := range []string{"change", "second"} {
		places[w.until(t, name, remediations.Complete).Status.Replacement.Name] = true
	}
	if len(places) != 2 || w.evictions != 2 {
		t.Errorf("%d pods are in the places of 2, after %d evictions", len(places), w.evictions)
	}
}

// A controller may be scaled down, or replaced by another one, once it has made a pod in the place of the evicted one.
func TestAPodThatIsGoneIsNotSaidToBeInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cart(), move(), automatic())
	next := podOn("cart-2", "node-2", noon.Add(time.Second))
	next.Status.Conditions = nil // not ready
	w.controllers = func(*world) {}
	w.until(t, "change", func(r *v1alpha1.Remediation) bool { return remediations.Step(r) == v1alpha1.ReasonReplacing })
	if err := w.Create(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	w.until(t, "change", func(r *v1alpha1.Remediation) bool {
		return strings.Contains(message(r, v1alpha1.ConditionComplete), "cart-2 is in its place, and not ready")
	})
	if err := w.Delete(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	r := w.until(t, "change", func(r *v1alpha1.Remediation) bool {
		return !strings.Contains(message(r, v1alpha1.ConditionComplete), "cart-2")
	})
	if remediations.Step(r) != v1alpha1.ReasonReplacing || message(r, v1alpha1.ConditionComplete) != awaited || message(r, v1alpha1.ConditionApplied) != awaited {
		t.Errorf("it is at %s, and says %q and %q", remediations.Step(r), message(r, v1alpha1.ConditionComplete), message(r, v1alpha1.ConditionApplied))
	}
}
