package chart

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

// constraints are the fields of a SecurityContextConstraints of OpenShift that have to do with pods such as the chart's:
// https://docs.redhat.com/en/documentation/openshift_container_platform/4.19/html/authentication_and_authorization/managing-pod-security-policies
type constraints struct {
	AllowHostDirVolumePlugin, AllowHostIPC, AllowHostNetwork, AllowHostPID, AllowHostPorts bool
	AllowPrivilegedContainer, AllowPrivilegeEscalation, ReadOnlyRootFilesystem             bool
	AllowedCapabilities, RequiredDropCapabilities, SeccompProfiles, Volumes                []string
	RunAsUser                                                                              struct{ Type string }
	SELinuxContext                                                                         struct{ Type string }
	FSGroup, SupplementalGroups                                                            struct {
		Type   string
		Ranges []struct{ Min, Max int64 }
	}
}

// restrictedV2 is what OpenShift ships, and admits pods by for which an account has nothing else:
// https://github.com/openshift/cluster-kube-apiserver-operator/blob/main/bindata/bootkube/scc-manifests/0000_20_kube-apiserver-operator_00_scc-restricted-v2.yaml
func restrictedV2() *constraints {
	c := &constraints{
		AllowedCapabilities: []string{"NET_BIND_SERVICE"}, RequiredDropCapabilities: []string{"ALL"}, SeccompProfiles: []string{"runtime/default"},
		Volumes: []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"},
	}
	c.RunAsUser.Type, c.SELinuxContext.Type, c.FSGroup.Type, c.SupplementalGroups.Type = "MustRunAsRange", "MustRunAs", "MustRunAs", "RunAsAny"
	return c
}

// refuse says why a pod is not admitted. Fields that a pod leaves out are set by the constraints; users, groups and SELinux contexts
// come from a range that each namespace has, which the chart cannot know.
func (c *constraints) refuse(spec *corev1.PodSpec) []string {
	var all []string
	refuse := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	refuse(spec.HostPID && !c.AllowHostPID, "hostPID")
	refuse(spec.HostIPC && !c.AllowHostIPC, "hostIPC")
	refuse(spec.HostNetwork && !c.AllowHostNetwork, "hostNetwork")
	for i := range spec.Volumes {
		kind := kindOfVolume(&spec.Volumes[i])
		refuse(!slices.Contains(c.Volumes, kind) || kind == "hostPath" && !c.AllowHostDirVolumePlugin, "volume %s", kind)
	}
	if pod := spec.SecurityContext; pod != nil {
		refuse(pod.FSGroup != nil && c.FSGroup.Type == "MustRunAs", "fsGroup")
		for _, group := range pod.SupplementalGroups {
			inRange := slices.ContainsFunc(c.SupplementalGroups.Ranges, func(r struct{ Min, Max int64 }) bool { return r.Min <= group && group <= r.Max })
			refuse(c.SupplementalGroups.Type == "MustRunAs" && !inRange, "supplementalGroups %d", group)
		}
		all = append(all, c.refuseProcess(pod.RunAsUser, pod.SELinuxOptions, pod.SeccompProfile)...)
	}
	for i := range spec.Containers {
		all = append(all, c.refuseContainer(spec, &spec.Containers[i])...)
	}
	return all
}

// refuseProcess is refuse for what pods and containers both have.
func (c *constraints) refuseProcess(user *int64, selinux *corev1.SELinuxOptions, seccomp *corev1.SeccompProfile) []string {
	var all []string
	if user != nil && (c.RunAsUser.Type == "MustRunAsRange" || *user == 0) {
		all = append(all, "runAsUser")
	}
	if selinux != nil && c.SELinuxContext.Type == "MustRunAs" {
		all = append(all, "seLinuxOptions")
	}
	if seccomp != nil && (seccomp.Type != corev1.SeccompProfileTypeRuntimeDefault || !slices.Contains(c.SeccompProfiles, "runtime/default")) {
		all = append(all, "seccompProfile")
	}
	return all
}

func (c *constraints) refuseContainer(spec *corev1.PodSpec, container *corev1.Container) []string {
	var all []string
	for _, port := range container.Ports {
		if port.HostPort != 0 && !c.AllowHostPorts {
			all = append(all, "hostPort")
		}
	}
	own := container.SecurityContext
	if own == nil {
		return all
	}
	all = append(all, c.refuseProcess(own.RunAsUser, own.SELinuxOptions, own.SeccompProfile)...)
	is := func(b *bool) bool { return b != nil && *b }
	nonRoot := is(own.RunAsNonRoot) || spec.SecurityContext != nil && is(spec.SecurityContext.RunAsNonRoot)
	for what, wrong := range map[string]bool{
		"privileged":               is(own.Privileged) && !c.AllowPrivilegedContainer,
		"allowPrivilegeEscalation": is(own.AllowPrivilegeEscalation) && !c.AllowPrivilegeEscalation,
		"readOnlyRootFilesystem":   c.ReadOnlyRootFilesystem && !is(own.ReadOnlyRootFilesystem),
		"runAsNonRoot":             c.RunAsUser.Type == "MustRunAsNonRoot" && !nonRoot,
	} {
		if wrong {
			all = append(all, what)
		}
	}
	if own.Capabilities != nil {
		for _, added := range own.Capabilities.Add {
			if !slices.Contains(c.AllowedCapabilities, string(added)) {
				all = append(all, "capability "+string(added))
			}
		}
	}
	return all
}

// kindOfVolume returns the field that a volume has, as constraints name it.
func kindOfVolume(v *corev1.Volume) string {
	switch {
	case v.HostPath != nil:
		return "hostPath"
	case v.ConfigMap != nil:
		return "configMap"
	case v.Secret != nil:
		return "secret"
	case v.Projected != nil:
		return "projected"
	case v.EmptyDir != nil:
		return "emptyDir"
	default:
		return "other"
	}
}

// constraintsOf returns those of the chart.
func constraintsOf(t *testing.T, all []*unstructured.Unstructured) *constraints {
	t.Helper()
	text, err := get(t, all, "SecurityContextConstraints", gauge).MarshalJSON()
	must(t, err)
	c := &constraints{}
	must(t, yaml.Unmarshal(text, c))
	return c
}

func TestOpenShiftAdmitsEveryPodOfItsValues(t *testing.T) {
	t.Parallel()
	all := renderFile(t, filepath.Join(chartDir(), "values-openshift.yaml"))
	checked := pods(t, all)
	for i := range checked {
		pod := &checked[i]
		c := restrictedV2()
		if pod.onNode { // its account has both, and the first does for no gauge
			c = constraintsOf(t, all)
		}
		same(t, "why "+pod.name+" is refused", c.refuse(&pod.spec), nil)
	}
	users, _, err := unstructured.NestedStringSlice(get(t, all, "SecurityContextConstraints", gauge).Object, "users")
	must(t, err)
	same(t, "whom the constraints are for", users, []string{"system:serviceaccount:" + gauge + ":" + gauge})

	// What the manager starts.
	anyUser := slices.Contains(container(t, all, manager).Args, "--any-user")
	probes := probejob.Settings{Memory: resource.MustParse("512Mi"), AnyUser: anyUser}
	probe := probes.Probe(probejob.Run{Job: "disk-write", Intensity: 1, Duration: time.Second}).Spec
	same(t, "why probes are refused", restrictedV2().refuse(&probe), nil)
}

// The checks bite: with the values that are the chart's own, gauges and probes are refused.
func TestOpenShiftRefusesGaugesAndProbesOfTheDefaults(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	d, _ := gaugePods(t, all)
	same(t, "why gauges are refused", restrictedV2().refuse(&d.Spec.Template.Spec), []string{"hostPID", "volume hostPath", "volume hostPath"})
	probes := probejob.Settings{Memory: resource.MustParse("512Mi"), AnyUser: slices.Contains(container(t, all, manager).Args, "--any-user")}
	probe := probes.Probe(probejob.Run{Job: "cpu", Intensity: 1, Duration: time.Second}).Spec
	same(t, "why probes are refused", restrictedV2().refuse(&probe), []string{"runAsUser"})
	same(t, "the constraints that there are", names(all, "SecurityContextConstraints"), []string{})

	fixed := deployment(t, render(t, "podSecurity: {runAsUser: 7}\nmanager: {podSecurityContext: {fsGroup: 5}}"), manager)
	same(t, "why another user is refused", restrictedV2().refuse(&fixed.Spec.Template.Spec), []string{"fsGroup", "runAsUser"})
}

// The constraints of gauges allow nothing that they do not have.
func TestTheConstraintsOfGaugesAllowNothingElse(t *testing.T) {
	t.Parallel()
	for values, group := range map[string]bool{"": true, "podNames: false": false} {
		all := render(t, fmt.Sprintf("gauge: {securityContextConstraints: {create: true}, %s}", values))
		c := constraintsOf(t, all)
		d, _ := gaugePods(t, all)
		same(t, "why gauges are refused", c.refuse(&d.Spec.Template.Spec), nil)
		same(t, "whether they may be of the group root", len(c.SupplementalGroups.Ranges) == 1, group)
		for what, change := range map[string]func(*corev1.PodSpec){
			"hostNetwork":              func(s *corev1.PodSpec) { s.HostNetwork = true },
			"hostIPC":                  func(s *corev1.PodSpec) { s.HostIPC = true },
			"privileged":               func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.Privileged = new(true) },
			"allowPrivilegeEscalation": func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true) },
			"readOnlyRootFilesystem":   func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil },
			"runAsUser":                func(s *corev1.PodSpec) { s.SecurityContext.RunAsUser = new(int64(0)) },
			"runAsNonRoot":             func(s *corev1.PodSpec) { s.SecurityContext.RunAsNonRoot = nil },
			"seccompProfile":           func(s *corev1.PodSpec) { s.SecurityContext.SeccompProfile.Type = corev1.SeccompProfileTypeUnconfined },
			"supplementalGroups 1":     func(s *corev1.PodSpec) { s.SecurityContext.SupplementalGroups = []int64{1} },
			"hostPort":                 func(s *corev1.PodSpec) { s.Containers[0].Ports[0].HostPort = 1 },
			"capability SYS_PTRACE": func(s *corev1.PodSpec) {
				s.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_PTRACE"}
			},
		} {
			changed := d.Spec.Template.Spec.DeepCopy()
			change(changed)
			same(t, "why gauges are refused with "+what, c.refuse(changed), []string{what})
		}
	}
}
