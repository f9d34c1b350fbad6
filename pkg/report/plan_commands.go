package report

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/kubectl"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/text"
)

// PlanCommands returns the lines of a script for a POSIX shell that carries out a plan, given the pods of the cluster: commands of
// kubectl, each after what it is for, and as a comment what gives later pods of the workload the same. The error names the pod that has no
// such patch.
func PlanCommands(p *plan.Plan, pods []corev1.Pod) ([]string, error) {
	byName := stepPods(p, pods)
	lines := comments(strings.Join(PlanNotes(p), "\n"))
	for i := range p.Steps {
		s := &p.Steps[i]
		lines = append(lines, "")
		lines = append(lines, comments(fmt.Sprintf("Step %d: %s. It wins %s.", i+1, Change(&s.Change), interval(s.Win)))...)
		step, err := stepCommands(s, byName[s.Pod])
		if err != nil {
			return nil, err
		}
		lines = append(lines, step...)
	}
	return lines, nil
}

// stepPods returns the pods that the steps of a plan change, by their names.
func stepPods(p *plan.Plan, pods []corev1.Pod) map[string]*corev1.Pod {
	wanted := map[types.NamespacedName]string{}
	for i := range p.Steps {
		namespace, name, _ := strings.Cut(p.Steps[i].Pod, "/")
		wanted[types.NamespacedName{Namespace: namespace, Name: name}] = p.Steps[i].Pod
	}
	byName := map[string]*corev1.Pod{}
	for i := range pods {
		if name, is := wanted[types.NamespacedName{Namespace: pods[i].Namespace, Name: pods[i].Name}]; is {
			byName[name] = &pods[i]
		}
	}
	return byName
}

// stepCommands returns the lines that carry out a step, given its pod.
func stepCommands(s *plan.Step, pod *corev1.Pod) ([]string, error) {
	if s.Action == plan.MovePod {
		return append(comments(fmt.Sprintf("The pod that is made in its place is to run on %s: see that its scheduler puts it there.", s.To)), kubectl.Evict(pod)), nil
	}
	var lines []string
	cpus := []disruption.ContainerCPU{s.CPU()}
	if s.NotInPlace == "" {
		lines = append(lines, kubectl.Resize(pod, cpus))
	} else {
		lines = append(lines, comments(fmt.Sprintf("Not in place: %s.", s.NotInPlace))...)
	}
	patch, err := kubectl.Template(pod, cpus)
	if err != nil {
		return nil, fmt.Errorf("pod %s: %w", s.Pod, err)
	}
	if patch != "" {
		lines = append(lines, comments("For the pods to come, patch the template of "+s.Workload+":\n"+patch)...)
	}
	return lines, nil
}

// comments returns lines that a shell ignores.
func comments(of string) []string {
	lines := strings.Split(strings.TrimRight(of, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight("# "+text.Printable(lines[i]), " ")
	}
	return lines
}
