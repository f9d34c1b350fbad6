// Package kubectl writes the commands of kubectl that carry out a change of a pod, each a line for a POSIX shell, and the patch that
// gives the pods to come what a pod has. What comes from objects is quoted: a command does nothing else, whatever their names are.
//
// Whether the change may be made, package disruption says. This one has no access to a cluster.
package kubectl

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/text"
)

// object is one of the API, as JSON has it.
type object = map[string]any

// Resize returns the command that gives containers of a pod that much CPU, in place. It takes kubectl 1.32 or later.
func Resize(pod *corev1.Pod, cpus []disruption.ContainerCPU) string {
	return fmt.Sprintf("kubectl patch %s --subresource resize --patch %s", named(pod), quoted(encoded(object{"spec": spec(pod, cpus)})))
}

// named are the arguments that name a pod.
func named(pod *corev1.Pod) string {
	arguments := quoted("pod/" + pod.Name)
	if pod.Namespace != "" {
		arguments += " -n " + quoted(pod.Namespace)
	}
	return arguments
}

// spec returns the part of the spec of a pod, or of a template, that says how much CPU its containers have.
func spec(pod *corev1.Pod, cpus []disruption.ContainerCPU) object {
	part := object{}
	for _, cpu := range cpus {
		resources := object{}
		if cpu.Request != nil {
			resources["requests"] = object{"cpu": cpu.Request.String()}
		}
		if cpu.Limit != nil {
			resources["limits"] = object{"cpu": cpu.Limit.String()}
		}
		field := "containers"
		if isSidecar(pod, cpu.Container) {
			field = "initContainers"
		}
		list, _ := part[field].([]object)
		part[field] = append(list, object{"name": cpu.Container, "resources": resources})
	}
	return part
}

// isSidecar reports whether a container starts before the others, and runs beside them.
func isSidecar(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == container })
}

// Evict returns the command that asks the Eviction API to evict a pod: this one, and no later one of its name.
func Evict(pod *corev1.Pod) string {
	eviction := object{
		"apiVersion": policyv1.SchemeGroupVersion.String(), "kind": "Eviction",
		"metadata": object{"name": pod.Name, "namespace": pod.Namespace},
	}
	if pod.UID != "" {
		eviction["deleteOptions"] = object{"preconditions": object{"uid": pod.UID}}
	}
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", segment(pod.Namespace), segment(pod.Name))
	return fmt.Sprintf("printf %%s %s | kubectl create --raw %s -f -", quoted(encoded(eviction)), path)
}

// Cordon returns the command after which schedulers put no pod on a node.
func Cordon(node string) string { return "kubectl cordon " + quoted("node/"+node) }

// Uncordon returns the command that takes back [Cordon].
func Uncordon(node string) string { return "kubectl uncordon " + quoted("node/"+node) }

// templates are the kinds of workloads whose pods follow a template that may change, and where that has the spec of a pod.
var templates = map[string]struct {
	version string
	path    []string
}{
	"Deployment":  {"apps/v1", []string{"spec", "template", "spec"}},
	"StatefulSet": {"apps/v1", []string{"spec", "template", "spec"}},
	"DaemonSet":   {"apps/v1", []string{"spec", "template", "spec"}},
	"CronJob":     {"batch/v1", []string{"spec", "jobTemplate", "spec", "template", "spec"}},
}

// Template returns the strategic merge patch, as YAML, that gives the pods to come of a pod's workload that much CPU, for kubectl
// patch --patch-file or for Kustomize. It is "" where no template is known that may change: of a pod of a Job, or of a controller of
// another kind.
func Template(pod *corev1.Pod, cpus []disruption.ContainerCPU) (string, error) {
	kind, name := workloads.Owner(pod)
	template, known := templates[kind]
	if !known {
		return "", nil
	}
	patch := object{"apiVersion": template.version, "kind": kind, "metadata": object{"name": name, "namespace": pod.Namespace}}
	at, last := patch, len(template.path)-1
	for _, field := range template.path[:last] {
		below := object{}
		at[field] = below
		at = below
	}
	at[template.path[last]] = spec(pod, cpus)
	out, err := text.YAML(patch)
	return string(out), err
}

// encoded returns an object as JSON on one line.
func encoded(o object) string {
	out, err := json.Marshal(o)
	if err != nil {
		panic(err) // it holds nothing but texts
	}
	return string(out)
}

// plain are words that no POSIX shell takes for anything else.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// quoted returns a word as a POSIX shell takes it: in quotes, unless it is plain (section 2.2.2 of the Shell Command Language).
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// reserved is a character that does not stand for itself in a segment of a path (section 2.3 of RFC 3986).
var reserved = regexp.MustCompile(`[^A-Za-z0-9._~-]`)

// segment returns a name as a path has it.
func segment(name string) string {
	return reserved.ReplaceAllStringFunc(name, func(s string) string {
		return "%" + strings.ReplaceAll(fmt.Sprintf("% X", s), " ", "%")
	})
}
