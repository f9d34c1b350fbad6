package disruption_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// many is a cluster of 30,000 pods of 3,000 Deployments in 100 namespaces, each Deployment with a PodDisruptionBudget that has a status
// or none.
func many(status bool) *disruption.Input {
	all := &disruption.Input{Now: noon}
	for d := range 3000 {
		app, namespace := fmt.Sprintf("app-%d", d), fmt.Sprintf("team-%d", d%100)
		for r := range 10 {
			all.Pods = append(all.Pods, pod(fmt.Sprintf("%s-%d", app, r), in(namespace), labelled("app", app), of("ReplicaSet", app+"-5d4f")))
		}
		b := guard(app, unavailable("1"), func(b *policyv1.PodDisruptionBudget) {
			b.Namespace, b.Spec.Selector.MatchLabels["app"] = namespace, app
		})
		if status {
			says(1, 10, 9)(&b)
		}
		all.Budgets = append(all.Budgets, b)
	}
	return all
}

// BenchmarkNew is what the rules of a large cluster cost before the first question.
func BenchmarkNew(b *testing.B) {
	for name, status := range map[string]bool{"of a cluster": true, "of files": false} {
		b.Run(name, func(b *testing.B) {
			in := many(status)
			for b.Loop() {
				if _, err := disruption.New(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEvict and BenchmarkResize are a question each, where 30 PodDisruptionBudgets are in the pod's namespace.
func BenchmarkEvict(b *testing.B) {
	ask(b, func(r *disruption.Rules, p *corev1.Pod) disruption.Verdict { return r.Evict(p) })
}

func BenchmarkResize(b *testing.B) {
	ask(b, func(r *disruption.Rules, p *corev1.Pod) disruption.Verdict { return r.Resize(p, cpu("500m", "")) })
}

func ask(b *testing.B, about func(*disruption.Rules, *corev1.Pod) disruption.Verdict) {
	in := many(true)
	r, err := disruption.New(in)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if v := about(r, &in.Pods[0]); v.Refused != "" {
			b.Fatal(v.Refused)
		}
	}
}
