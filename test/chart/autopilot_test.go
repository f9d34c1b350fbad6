package chart

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

// What GKE Autopilot refuses, by the names that its messages have for the rules:
// https://docs.cloud.google.com/kubernetes-engine/docs/concepts/autopilot-security
// https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/workloadallowlist
const (
	hostNamespaces    = "autogke-disallow-hostnamespaces"
	privilege         = "autogke-disallow-privilege"
	hostPaths         = "autogke-no-write-mode-hostpath" // below /var/log, read-only, is allowed
	hostPorts         = "autogke-no-host-port"
	capabilities      = "autogke-default-linux-capabilities"
	nodeNames         = "autogke-node-affinity-selector-limitation" // kubernetes.io/hostname, for example
	managedNamespaces = "managed-namespaces-limitation"
)

// managed are namespaces in which Autopilot lets nothing be made.
var managed = []string{"kube-system", "kube-node-lease", "kube-public", "gke-managed-system", "gke-gmp-system"}

// allowedCapabilities are those that containers may add on Autopilot.
var allowedCapabilities = []corev1.Capability{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "SYS_PTRACE",
}

// autopilotRefuses returns the rules that a pod breaks, sorted.
func autopilotRefuses(spec *corev1.PodSpec) []string {
	broken := map[string]bool{hostNamespaces: spec.HostPID || spec.HostIPC || spec.HostNetwork, nodeNames: namesNodes(spec)}
	onNode := map[string]bool{}
	for i := range spec.Volumes {
		if path := spec.Volumes[i].HostPath; path != nil {
			onNode[spec.Volumes[i].Name] = true
			broken[hostPaths] = broken[hostPaths] || !strings.HasPrefix(path.Path+"/", "/var/log/")
		}
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		for _, mount := range c.VolumeMounts {
			broken[hostPaths] = broken[hostPaths] || onNode[mount.Name] && !mount.ReadOnly
		}
		for _, port := range c.Ports {
			broken[hostPorts] = broken[hostPorts] || port.HostPort != 0
		}
		if s := c.SecurityContext; s != nil {
			broken[privilege] = broken[privilege] || s.Privileged != nil && *s.Privileged
			broken[capabilities] = broken[capabilities] || s.Capabilities != nil && slices.ContainsFunc(s.Capabilities.Add, func(c corev1.Capability) bool { return !slices.Contains(allowedCapabilities, c) })
		}
	}
	rules := []string{}
	for rule, is := range broken {
		if is {
			rules = append(rules, rule)
		}
	}
	slices.Sort(rules)
	return rules
}

// namesNodes reports whether a pod chooses nodes by their names, or by labels that belong to Autopilot.
func namesNodes(spec *corev1.PodSpec) bool {
	theirs := func(label string) bool {
		return label == corev1.LabelHostname || strings.HasPrefix(label, "node-role.kubernetes.io/")
	}
	for label := range spec.NodeSelector {
		if theirs(label) {
			return true
		}
	}
	if spec.NodeName != "" || spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return spec.NodeName != ""
	}
	var terms []corev1.NodeSelectorTerm
	for _, preferred := range spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		terms = append(terms, preferred.Preference)
	}
	if required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms = append(terms, required.NodeSelectorTerms...)
	}
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool {
		return len(term.MatchFields) > 0 || slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return theirs(r.Key) })
	})
}

// inManaged returns the objects in namespaces in which nothing can be made.
func inManaged(all []*unstructured.Unstructured) []string {
	found := []string{}
	for _, o := range all {
		if slices.Contains(managed, o.GetNamespace()) || o.GetKind() == "Namespace" && slices.Contains(managed, o.GetName()) {
			found = append(found, o.GetKind()+" "+o.GetName())
		}
	}
	return found
}

func TestAutopilotAdmitsEveryObjectOfItsValues(t *testing.T) {
	t.Parallel()
	all := renderFile(t, filepath.Join(chartDir(), "values-gke-autopilot.yaml"))
	same(t, "what is refused by "+managedNamespaces, inManaged(all), []string{})
	checked := pods(t, all)
	for i := range checked {
		pod := &checked[i]
		same(t, "what refuses "+pod.name, autopilotRefuses(&pod.spec), []string{})
		if pod.test {
			continue
		}
		// Where pods cannot burst, less is raised, and limits are set to requests: the manager would then have another limit than
		// GOMEMLIMIT knows. https://docs.cloud.google.com/kubernetes-engine/docs/concepts/autopilot-resource-requests
		r := pod.spec.Containers[0].Resources
		if r.Requests.Cpu().Cmp(resource.MustParse("250m")) < 0 || r.Requests.Memory().Cmp(resource.MustParse("512Mi")) < 0 || !r.Requests.Memory().Equal(*r.Limits.Memory()) {
			t.Errorf("the resources of %s are adjusted: %v", pod.name, r)
		}
	}
	same(t, "what runs", names(all, "Deployment"), []string{manager})
	same(t, "where it may measure", boundIn(all, manager+"-measurer"), []string{"loadline-system"}) // where an operator could calibrate
}

// The checks bite: of the chart's defaults Autopilot refuses what the values above leave out.
func TestAutopilotRefusesGaugesSchedulerAndProbesOfTheDefaults(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	d, _ := gaugePods(t, all)
	same(t, "what refuses gauges", autopilotRefuses(&d.Spec.Template.Spec), []string{hostNamespaces, hostPaths})
	same(t, "what refuses the manager", autopilotRefuses(&deployment(t, all, manager).Spec.Template.Spec), []string{nodeNames})
	same(t, "what is refused by "+managedNamespaces, inManaged(all), []string{"RoleBinding " + scheduler + "-authentication-reader"})
	probes := probejob.Settings{Memory: resource.MustParse("512Mi")}
	job := probejob.New(probejob.Placement{Owner: d, Name: "probe", Node: "worker-1"}, probes.Probe(probejob.Run{Job: "cpu", Intensity: 1, Duration: time.Second}))
	same(t, "what refuses probes", autopilotRefuses(&job.Spec.Template.Spec), []string{nodeNames})
}
