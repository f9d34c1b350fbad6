package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadline.dev/loadline/apis/config"
)

// manager and scheduler are what the Deployments are called.
const (
	manager   = "loadline-manager"
	scheduler = "loadline-scheduler"
)

// gauge is what the DaemonSet is called, and its namespace.
const gauge = "loadline-gauge"

// same fails the test when two values differ.
func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAnImageIsNamedByRegistryRepositoryAndTagOrDigest(t *testing.T) {
	t.Parallel()
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	tests := map[string]struct{ values, manager, probe string }{
		"the chart's version is the tag":  {"", "loadline/loadline-manager:0.2.0", "loadline/loadline-probe:0.2.0"},
		"one tag is for all":              {"image: {tag: dev}", "loadline/loadline-manager:dev", "loadline/loadline-probe:dev"},
		"a tag of its own goes before":    {"image: {tag: dev}\nmanager: {image: {tag: fixed}}", "loadline/loadline-manager:fixed", "loadline/loadline-probe:dev"},
		"a digest goes before every tag":  {"image: {tag: dev}\nmanager: {image: {tag: fixed, digest: " + digest + "}}", "loadline/loadline-manager@" + digest, "loadline/loadline-probe:dev"},
		"the registry goes before it all": {"image: {registry: r.example.com:5000/a}\nprobe: {image: {digest: " + digest + "}}", "r.example.com:5000/a/loadline/loadline-manager:0.2.0", "r.example.com:5000/a/loadline/loadline-probe@" + digest},
		"a repository may be another":     {"manager: {image: {repository: mine}}", "mine:0.2.0", "loadline/loadline-probe:0.2.0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := container(t, render(t, test.values), manager)
			same(t, "the manager's image", c.Image, test.manager)
			same(t, "the probe's image", variable(c, "LOADLINE_PROBE_IMAGE"), test.probe)
		})
	}
}

func TestTwoReplicasElectALeaderAndAreNotEvictedTogether(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	for _, name := range []string{manager, scheduler} {
		same(t, "the replicas of "+name, *deployment(t, all, name).Spec.Replicas, 2)
		budget := as[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget", name)
		same(t, "how many of "+name+" may be away", *budget.Spec.MaxUnavailable, intstr.FromInt32(1))
		same(t, "whom the budget of "+name+" is for", budget.Spec.Selector, deployment(t, all, name).Spec.Selector)
	}
	if args := container(t, all, manager).Args; !slices.Contains(args, "--leader-elect") {
		t.Errorf("the manager does not elect a leader: %q", args)
	}
	if config := schedulerConfig(t, all); !config.LeaderElection.LeaderElect {
		t.Error("the scheduler does not elect a leader")
	}
	same(t, "the leases", names(all, "Lease"), []string{manager, scheduler})

	one := render(t, "manager: {replicas: 1}\nscheduler: {podDisruptionBudget: {enabled: false}}")
	same(t, "the budgets of one manager and of schedulers that want none", names(one, "PodDisruptionBudget"), []string{})
	same(t, "the leases", names(one, "Lease"), []string{manager, scheduler})
	same(t, "how one replica is replaced", deployment(t, one, manager).Spec.Strategy.Type, "")
}

func TestWithoutLeaderElectionThereIsNeverMoreThanOne(t *testing.T) {
	t.Parallel()
	all := render(t, "manager: {replicas: 1, leaderElection: {enabled: false}}\nscheduler: {replicas: 1, leaderElection: {enabled: false}}")
	for _, name := range []string{manager, scheduler} {
		same(t, "how "+name+" is replaced", deployment(t, all, name).Spec.Strategy.Type, "Recreate")
	}
	if args := container(t, all, manager).Args; slices.Contains(args, "--leader-elect") {
		t.Errorf("the manager elects a leader: %q", args)
	}
	if schedulerConfig(t, all).LeaderElection.LeaderElect {
		t.Error("the scheduler elects a leader")
	}
	same(t, "the leases", names(all, "Lease"), []string{})
	same(t, "the roles", names(all, "Role"), []string{})
}

func TestResourceDefinitionsAreKeptUnlessOneSaysOtherwise(t *testing.T) {
	t.Parallel()
	seven := []string{"nodeprofiles.loadline.dev", "poolplans.loadline.dev", "remediationpolicies.loadline.dev", "remediations.loadline.dev", "sharetrees.loadline.dev", "tracereplays.loadline.dev", "workloadprofiles.loadline.dev"}
	tests := map[string]struct {
		values string
		want   []string
		policy string
	}{
		"by default":                {"", seven, "keep"},
		"when they are not kept":    {"crds: {keep: false}", seven, ""},
		"when others have them":     {"crds: {enabled: false}", []string{}, ""},
		"when others have them too": {"crds: {enabled: false, keep: false}", []string{}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := render(t, test.values)
			same(t, "the definitions", names(all, "CustomResourceDefinition"), test.want)
			for _, name := range test.want {
				definition := get(t, all, "CustomResourceDefinition", name)
				same(t, "what happens to "+name, definition.GetAnnotations()["helm.sh/resource-policy"], test.policy)
				same(t, "whose "+name+" is", definition.GetLabels()["app.kubernetes.io/part-of"], "loadline")
				if definition.GetAnnotations()["controller-gen.kubebuilder.io/version"] == "" {
					t.Errorf("%s has lost its own annotations: %v", name, definition.GetAnnotations())
				}
			}
		})
	}
}

func TestWhatIsOffLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ off, mark string }{
		"the manager":   {"manager", manager},
		"the scheduler": {"scheduler", scheduler},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := render(t, test.off+": {enabled: false}\nmetrics: {serviceMonitor: {enabled: true}}")
			for _, o := range all {
				if strings.HasPrefix(o.GetName(), test.mark) || o.GetLabels()["app.kubernetes.io/name"] == test.mark || strings.HasSuffix(o.GetName(), "test-"+test.off) {
					t.Errorf("there is a %s %s", o.GetKind(), o.GetName())
				}
			}
			same(t, "the Deployments", len(names(all, "Deployment")), 1)
		})
	}
}

func TestAReleaseNamesItsObjects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		values, release, want string
	}{
		"that says what it is":     {"", "loadline-blue", "loadline-blue-manager"},
		"that does not":            {"", "edge", "edge-loadline-manager"},
		"with a name of their own": {"fullnameOverride: load", "edge", "load-manager"},
		"whose name is long":       {"", "a-very-long-name-of-a-release-of-loadline-indeed", "a-very-long-name-of-a-release-of-loadlin-manager"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := template(t, test.release, test.values)
			must(t, err)
			fullname := strings.TrimSuffix(test.want, "-manager")
			pod := deployment(t, all, test.want).Spec.Template
			same(t, "the label of the release", pod.Labels["app.kubernetes.io/instance"], test.release)
			same(t, "the service account", pod.Spec.ServiceAccountName, test.want)
			binding := as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", test.want)
			same(t, "the role", binding.RoleRef.Name, test.want)
			get(t, all, "ClusterRole", binding.RoleRef.Name)
			same(t, "whom it is bound to", binding.Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: test.want, Namespace: "loadline-system"}})
			get(t, all, "ClusterRole", fullname+"-workloadprofile-viewer")
			config := deployment(t, all, fullname+"-scheduler").Spec.Template.Spec.Volumes[0].ConfigMap
			get(t, all, "ConfigMap", config.Name)
		})
	}
}

func TestFlagsVariablesLabelsAndPlacesReachThePods(t *testing.T) {
	t.Parallel()
	all := render(t, `
commonLabels: {team: capacity}
image: {pullSecrets: [{name: regcred}], pullPolicy: Always}
manager:
  concurrentStatusWrites: 200
  observe: {profiles: advise}
  extraArgs: [-v=2]
  extraEnv: [{name: GOMEMLIMIT, value: 900MiB}]
  extraVolumes: [{name: authorities, configMap: {name: our-authorities}}]
  extraVolumeMounts: [{name: authorities, mountPath: /etc/ssl/certs, readOnly: true}]
  podAnnotations: {note: a}
  podLabels: {tier: control}
  nodeSelector: {kubernetes.io/os: linux}
  tolerations: [{key: dedicated, operator: Exists}]
  affinity: {nodeAffinity: null, podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: []}}
  topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
  priorityClassName: high
  resources: {limits: {cpu: "1"}}
scheduler:
  extraVolumes: [{name: more, emptyDir: {}}]
  extraVolumeMounts: [{name: more, mountPath: /more}]
probe: {memory: 1Gi, maxMeasurements: 10000}
replay: {cpu: 250m, memory: 2Gi}
podSecurity: {runAsUser: 1234567890, runAsGroup: 5, seccompProfile: {type: Localhost, localhostProfile: a.json}}
`)
	d := deployment(t, all, manager)
	pod, c := d.Spec.Template.Spec, container(t, all, manager)
	same(t, "the flags", c.Args, []string{
		"--leader-elect", "--concurrent-status-writes=200", "--gauge-namespace=" + gauge, "--observed-profiles=advise", "--max-measurements=10000", "--max-measurement-time=24h", "--probe-memory=1Gi", "--replay-cpu=250m", "--replay-memory=2Gi",
		"--max-replays=4", "--max-replay-parallelism=20", "--replay-timeout=24h", "-v=2",
	})
	same(t, "the variable", variable(c, "GOMEMLIMIT"), "900MiB")
	same(t, "how many variables there are of that name", strings.Count(fmt.Sprint(c.Env), "GOMEMLIMIT"), 1)
	same(t, "the volumes besides the token for gauges", pod.Volumes[1:], []corev1.Volume{{Name: "authorities", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "our-authorities"}},
	}}})
	same(t, "the mounts besides that", c.VolumeMounts[1:], []corev1.VolumeMount{{Name: "authorities", MountPath: "/etc/ssl/certs", ReadOnly: true}})
	mounts := container(t, all, scheduler).VolumeMounts
	same(t, "the scheduler's last mount", mounts[len(mounts)-1], corev1.VolumeMount{Name: "more", MountPath: "/more"})
	volumes := deployment(t, all, scheduler).Spec.Template.Spec.Volumes
	same(t, "the scheduler's last volume", volumes[len(volumes)-1].Name, "more")
	same(t, "the pull policy", c.ImagePullPolicy, corev1.PullAlways)
	same(t, "the pull secrets", pod.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "regcred"}})
	same(t, "the annotations", d.Spec.Template.Annotations, map[string]string{"note": "a"})
	same(t, "the labels", d.Spec.Template.Labels, map[string]string{
		"app.kubernetes.io/name": manager, "app.kubernetes.io/instance": "loadline", "app.kubernetes.io/part-of": "loadline", "team": "capacity", "tier": "control",
	})
	same(t, "the labels of the Deployment", d.Labels["team"], "capacity")
	same(t, "the selector", d.Spec.Selector.MatchLabels, map[string]string{"app.kubernetes.io/name": manager, "app.kubernetes.io/instance": "loadline"})
	same(t, "the nodes", pod.NodeSelector, map[string]string{"kubernetes.io/os": "linux"})
	same(t, "the tolerations", pod.Tolerations, []corev1.Toleration{{Key: "dedicated", Operator: "Exists"}})
	if pod.Affinity.NodeAffinity != nil || pod.Affinity.PodAffinity == nil {
		t.Errorf("the affinity is %+v, want that to pods only", pod.Affinity)
	}
	same(t, "the spread", pod.TopologySpreadConstraints, []corev1.TopologySpreadConstraint{{
		MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: d.Spec.Selector, MatchLabelKeys: []string{"pod-template-hash"},
	}})
	same(t, "the priority", pod.PriorityClassName, "high")
	same(t, "the limit that is added", c.Resources.Limits.Cpu().String(), "1")
	same(t, "the limit that stays", c.Resources.Limits.Memory().String(), "512Mi")
	same(t, "the user", *pod.SecurityContext.RunAsUser, 1234567890)
	same(t, "the group", *pod.SecurityContext.RunAsGroup, 5)
	same(t, "the seccomp profile", pod.SecurityContext.SeccompProfile, &corev1.SeccompProfile{Type: "Localhost", LocalhostProfile: new("a.json")})
}

func TestASpreadConstraintMaySelectByItself(t *testing.T) {
	t.Parallel()
	all := render(t, `
scheduler:
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}
`)
	same(t, "the spread", deployment(t, all, scheduler).Spec.Template.Spec.TopologySpreadConstraints, []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
	}})
}

func TestServiceAccountsMayBeOthers(t *testing.T) {
	t.Parallel()
	all := render(t, `
serviceAccounts:
  manager: {create: false, name: operators}
  scheduler: {name: schedulers, annotations: {a: b}}
tests: {enabled: false}
`)
	same(t, "the accounts", names(all, "ServiceAccount"), []string{gauge, "loadline-reader", "schedulers"})
	same(t, "its annotations", get(t, all, "ServiceAccount", "schedulers").GetAnnotations(), map[string]string{"a": "b"})
	same(t, "the manager's account", deployment(t, all, manager).Spec.Template.Spec.ServiceAccountName, "operators")
	same(t, "the scheduler's account", deployment(t, all, scheduler).Spec.Template.Spec.ServiceAccountName, "schedulers")
	for _, o := range all {
		subjects, _, err := unstructured.NestedSlice(o.Object, "subjects")
		must(t, err)
		for _, subject := range subjects {
			if name := subject.(map[string]any)["name"]; name != "operators" && name != "schedulers" && name != gauge && name != "loadline-reader" { //nolint:errcheck // a subject is an object
				t.Errorf("%s %s is for %v", o.GetKind(), o.GetName(), name)
			}
		}
	}
}

func TestRolesForUsersAreAggregatedUnlessOneSaysOtherwise(t *testing.T) {
	t.Parallel()
	const view, edit = "rbac.authorization.k8s.io/aggregate-to-view", "rbac.authorization.k8s.io/aggregate-to-edit"
	all := render(t, "")
	for kind, namespaced := range map[string]bool{"nodeprofile": false, "poolplan": false, "sharetree": false, "remediationpolicy": false, "remediation": true, "tracereplay": true, "workloadprofile": true} {
		same(t, "whether viewers see "+kind, get(t, all, "ClusterRole", "loadline-"+kind+"-viewer").GetLabels()[view], "true")
		want := ""
		if namespaced {
			want = "true"
		}
		same(t, "whether editors write "+kind, get(t, all, "ClusterRole", "loadline-"+kind+"-editor").GetLabels()[edit], want)
	}
	for _, o := range render(t, "rbac: {aggregate: false}") {
		for label := range o.GetLabels() {
			if strings.HasPrefix(label, "rbac.authorization.k8s.io/") {
				t.Errorf("%s has the label %s", o.GetName(), label)
			}
		}
	}
	for _, o := range render(t, "rbac: {create: false}") {
		if strings.HasSuffix(o.GetAPIVersion(), rbacv1.GroupName+"/v1") {
			t.Errorf("there is a %s %s", o.GetKind(), o.GetName())
		}
	}
}

// The rights to resize and evict pods, and the flag that takes them.
func TestTheManagerChangesPodsOnlyWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	for values, enabled := range map[string]bool{"": false, "manager: {remediation: {enabled: true}}": true} {
		all := render(t, values)
		var changes []string
		for _, o := range all {
			if o.GetKind() != "ClusterRole" || o.GetName() == "loadline-remediation-editor" {
				continue
			}
			text, err := o.MarshalJSON()
			must(t, err)
			for _, right := range []string{"pods/resize", "pods/eviction", "remediations/status"} {
				if strings.Contains(string(text), `"`+right+`"`) && strings.Contains(o.GetName(), "manager") {
					changes = append(changes, o.GetName()+" "+right)
				}
			}
		}
		want := []string(nil)
		if enabled {
			want = []string{"loadline-manager-remediator pods/resize", "loadline-manager-remediator pods/eviction", "loadline-manager-remediator remediations/status"}
		}
		slices.Sort(changes)
		slices.Sort(want)
		same(t, "the rights", changes, want)
		same(t, "whether the role is bound", slices.Contains(names(all, "ClusterRoleBinding"), "loadline-manager-remediator"), enabled)
		same(t, "whether the flag is set", slices.Contains(container(t, all, manager).Args, "--remediation"), enabled)
	}
}

func TestTheManagerMovesPodsOfTheScheduler(t *testing.T) {
	t.Parallel()
	const enabled = "manager: {remediation: {enabled: true}}\n"
	for values, want := range map[string]string{
		enabled: "",
		enabled + "scheduler: {schedulerName: batch}": "--scheduler-names=batch",
		enabled + "scheduler: {replaceDefault: true}": "--scheduler-names=default-scheduler,loadline",
		"scheduler: {schedulerName: batch}":           "",
	} {
		got := ""
		for _, arg := range container(t, render(t, values), manager).Args {
			if strings.HasPrefix(arg, "--scheduler-names=") {
				got = arg
			}
		}
		same(t, "the flag with "+values, got, want)
	}
}

func TestTheManagerScalesWhereItMay(t *testing.T) {
	t.Parallel()
	all := render(t, "rbac: {scale: {namespaces: [shop, search], allNamespaces: true}}")
	where := map[string]bool{}
	for _, o := range all {
		if o.GetName() == "loadline-manager-scaler" && o.GetKind() != "ClusterRole" {
			where[o.GetKind()+" "+o.GetNamespace()] = true
		}
	}
	same(t, "where it may", where, map[string]bool{"ClusterRoleBinding ": true, "RoleBinding shop": true, "RoleBinding search": true})
	get(t, all, "ClusterRole", "loadline-manager-scaler")
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding"} {
		if got := names(render(t, ""), kind); slices.Contains(got, "loadline-manager-scaler") {
			t.Errorf("by default there is a %s for it", kind)
		}
	}
}

// A scheduler must not be newer than the API server, or do what a newer one does.
func TestTheSchedulerEmulatesAnOlderAPIServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ values, version, want string }{
		"its own version":         {version: "1.37.2"},
		"a newer version":         {version: "1.38.0-beta.0"},
		"an older version":        {version: "1.34.12", want: "--emulated-version=1.34"},
		"that of a provider":      {version: "v1.36.1-gke.1420000", want: "--emulated-version=1.36"},
		"where values say which":  {values: `scheduler: {extraArgs: ["--emulated-version=1.35"]}`, version: "1.36.1", want: "--emulated-version=1.35"},
		"where values say others": {values: `scheduler: {extraArgs: ["--v=2"]}`, version: "1.35.0", want: "--emulated-version=1.35"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var emulated []string
			for _, arg := range container(t, render(t, test.values, "--kube-version", test.version), "loadline-scheduler").Args {
				if strings.HasPrefix(arg, "--emulated-version") {
					emulated = append(emulated, arg)
				}
			}
			if got := strings.Join(emulated, " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestPoliciesAreThereWhereTheAPIServerHasTheirKind(t *testing.T) {
	t.Parallel()
	const pools = "pool-placement.loadline.dev"
	all := []string{"calibration.loadline.dev", "job-labels.loadline.dev", "limits.loadline.dev", "measurement.loadline.dev", "pod-labels.loadline.dev", "remediation.loadline.dev", "replay.loadline.dev"}
	tests := map[string]struct {
		values   string
		flags    []string
		validate []string
		mutate   []string
	}{
		"by default":                           {validate: all, mutate: []string{pools}},
		"where Kubernetes is older":            {flags: []string{"--kube-version", "1.35.2"}, validate: all, mutate: []string{}},
		"when anyone may have traces replayed": {values: "admission: {replay: false}", validate: all[:6], mutate: []string{pools}},
		"when they are not asked for":          {values: "admission: {measurement: false, limits: false, replay: false, remediation: false, labels: false, poolPlacement: false}", validate: []string{}, mutate: []string{}},
		"when limits are all":                  {values: "admission: {measurement: false, replay: false, remediation: false, labels: false, poolPlacement: false}", validate: []string{"limits.loadline.dev"}, mutate: []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := render(t, test.values, test.flags...)
			for _, suffix := range []string{"", "Binding"} {
				same(t, "what is validated", names(all, "ValidatingAdmissionPolicy"+suffix), test.validate)
				same(t, "what is changed", names(all, "MutatingAdmissionPolicy"+suffix), test.mutate)
			}
		})
	}
}

// The policy and the scheduler have the same limits, which are the plugin's defaults unless values say otherwise.
func TestLimitsOfProfilesHoldWhereTheyAreWrittenAndWhereTheyCount(t *testing.T) {
	t.Parallel()
	defaults, err := config.LoadDilationArgs(nil)
	must(t, err)
	for values, want := range map[string]struct {
		variables map[string]string
		limits    config.Limits
	}{
		"":             {map[string]string{"minMaxDilation": "'1.05'", "maxThreads": "1024", "maxImportance": "'10'"}, defaults.Limits},
		"limits: null": {map[string]string{"minMaxDilation": "'1.05'", "maxThreads": "1024", "maxImportance": "'10'"}, defaults.Limits}, // values of a chart from before it
		"limits: {minMaxDilation: 1.25, maxThreads: 64, maxImportance: '2.5'}": {
			map[string]string{"minMaxDilation": "'1.25'", "maxThreads": "64", "maxImportance": "'2.5'"}, config.Limits{MinMaxDilation: 1.25, MaxImportance: 2.5},
		},
	} {
		all := render(t, values)
		same(t, "the scheduler's limits", dilationArgs(t, schedulerConfig(t, all), "loadline").Limits, want.limits)
		policy := as[admissionregistrationv1.ValidatingAdmissionPolicy](t, all, "ValidatingAdmissionPolicy", "limits.loadline.dev")
		got := map[string]string{}
		for _, v := range policy.Spec.Variables {
			if _, limited := want.variables[v.Name]; limited {
				got[v.Name] = v.Expression
			}
		}
		same(t, "the policy's limits", got, want.variables)
	}
}

func TestPrometheusFindsTheServices(t *testing.T) {
	t.Parallel()
	all := render(t, "metrics: {serviceMonitor: {enabled: true, labels: {release: p}, interval: 15s}, readers: [{kind: ServiceAccount, name: p, namespace: m}]}")
	selectors := map[string]map[string]string{gauge: as[appsv1.DaemonSet](t, all, "DaemonSet", gauge).Spec.Selector.MatchLabels}
	for _, name := range []string{manager, scheduler} {
		selectors[name] = deployment(t, all, name).Spec.Selector.MatchLabels
	}
	for name, port := range map[string]string{manager: "metrics", scheduler: "https", gauge: "https"} {
		monitor := get(t, all, "ServiceMonitor", name)
		same(t, "the label", monitor.GetLabels()["release"], "p")
		service := as[corev1.Service](t, all, "Service", name+"-metrics")
		selector, _, err := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
		must(t, err)
		for label, value := range selector {
			same(t, "the label "+label+" of the Service", service.Labels[label], value)
		}
		endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
		must(t, err)
		endpoint := endpoints[0].(map[string]any) //nolint:errcheck // an endpoint is an object
		same(t, "the port", endpoint["port"], any(port))
		same(t, "the port of the Service", service.Spec.Ports[0].Name, port)
		same(t, "the interval", endpoint["interval"], any("15s"))
		same(t, "whom the Service is for", service.Spec.Selector, selectors[name])
		same(t, "the token that is shown to "+name, endpoint["bearerTokenFile"], any("/var/run/secrets/kubernetes.io/serviceaccount/token"))
		same(t, "how it is asked", endpoint["scheme"], any("https"))
	}
	reader := as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", "loadline-metrics-reader")
	same(t, "who reads", reader.Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "p", Namespace: "m"}})
	role := as[rbacv1.ClusterRole](t, all, "ClusterRole", reader.RoleRef.Name)
	same(t, "what they read", role.Rules, []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}})
}

func TestPrometheusFindsThePods(t *testing.T) {
	t.Parallel()
	same(t, "what is scraped without a token", names(render(t, "metrics: {podMonitor: {enabled: true}}"), "PodMonitor"), []string{})
	same(t, "what is when metrics are for all", names(render(t, "metrics: {secure: false, podMonitor: {enabled: true}}"), "PodMonitor"), []string{manager})
	all := render(t, "metrics: {podMonitor: {enabled: true, tokenSecret: {name: s}}}")
	same(t, "what is scraped with a token", names(all, "PodMonitor"), []string{gauge, manager, scheduler})
	for name, port := range map[string]string{scheduler: "https", manager: "metrics"} {
		endpoints, _, err := unstructured.NestedSlice(get(t, all, "PodMonitor", name).Object, "spec", "podMetricsEndpoints")
		must(t, err)
		want := []any{map[string]any{
			"path": "/metrics", "port": port, "scheme": "https", "tlsConfig": map[string]any{"insecureSkipVerify": true},
			"authorization": map[string]any{"type": "Bearer", "credentials": map[string]any{"name": "s", "key": "token"}},
		}}
		same(t, "how "+name+" is scraped", endpoints, want)
	}
}

func TestTheManagersMetricsAreForReadersUnlessOneSaysOtherwise(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]bool{"": true, "metrics: {secure: false}": false} {
		all := render(t, values)
		same(t, "whether the manager is told, with "+values, slices.Contains(deployment(t, all, manager).Spec.Template.Spec.Containers[0].Args, "--metrics-secure=false"), !want)
	}
	endpoints, _, err := unstructured.NestedSlice(get(t, render(t, "metrics: {secure: false, serviceMonitor: {enabled: true}}"), "ServiceMonitor", manager).Object, "spec", "endpoints")
	must(t, err)
	same(t, "how it is scraped then", endpoints, []any{map[string]any{"path": "/metrics", "port": "metrics"}})
}

func TestRulesAndDashboardsAreThoseOfTheChart(t *testing.T) {
	t.Parallel()
	by := render(t, "")
	same(t, "the rules by default", names(by, "PrometheusRule"), []string{})
	same(t, "the ConfigMaps by default", names(by, "ConfigMap"), []string{scheduler + "-config"})

	all := render(t, "metrics: {rules: {enabled: true, labels: {a: b}}, dashboards: {enabled: true, annotations: {folder: L}}}")
	rule := get(t, all, "PrometheusRule", "loadline")
	same(t, "the label", rule.GetLabels()["a"], "b")
	var groups []any
	for _, path := range files(t, "rules/*.yaml") {
		content, err := os.ReadFile(path)
		must(t, err)
		// That a file of rules is no Kubernetes object is all that keeps objects from reading it.
		file := objects(t, "apiVersion: v1\nkind: Rules\n"+string(content))[0]
		more, _, err := unstructured.NestedSlice(file.Object, "groups")
		must(t, err)
		groups = append(groups, more...)
	}
	got, _, err := unstructured.NestedSlice(rule.Object, "spec", "groups")
	must(t, err)
	same(t, "the groups", got, groups)

	for _, path := range files(t, "dashboards/*.json") {
		file := filepath.Base(path)
		dashboard := as[corev1.ConfigMap](t, all, "ConfigMap", "loadline-dashboard-"+strings.TrimSuffix(file, ".json"))
		content, err := os.ReadFile(path)
		must(t, err)
		same(t, "the dashboard "+file, strings.TrimSpace(dashboard.Data[file]), strings.TrimSpace(string(content)))
		same(t, "the label", dashboard.Labels["grafana_dashboard"], "1")
		same(t, "the annotation", dashboard.Annotations["folder"], "L")
	}
}

// files returns the files of the chart that a pattern matches, at least one.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(chartDir(), pattern))
	must(t, err)
	if len(paths) == 0 {
		t.Fatalf("the chart has no %s", pattern)
	}
	return paths
}

func TestTestsAreHooksThatCleanUp(t *testing.T) {
	t.Parallel()
	var hooks []string
	for _, o := range render(t, "") {
		switch hook := o.GetAnnotations()["helm.sh/hook"]; {
		case hook == "test" && isTest(o):
			hooks = append(hooks, strings.Join([]string{o.GetAnnotations()["helm.sh/hook-weight"], o.GetKind(), o.GetName()}, " "))
			same(t, "when "+o.GetName()+" is removed", o.GetAnnotations()["helm.sh/hook-delete-policy"], "before-hook-creation,hook-succeeded")
		case hook != "" && o.GetKind() != "Lease":
			t.Errorf("%s %s is a hook %s", o.GetKind(), o.GetName(), hook)
		case isTest(o):
			t.Errorf("%s %s stays when the test is over", o.GetKind(), o.GetName())
		}
	}
	slices.Sort(hooks)
	same(t, "the tests, by their turns", hooks, []string{
		"0 ClusterRoleBinding loadline-test", "0 RoleBinding loadline-test-gauge-user", "0 RoleBinding loadline-test-gauge-user", "0 ServiceAccount loadline-test",
		"1 WorkloadProfile loadline-test", "2 TraceReplay loadline-test", "3 Pod loadline-test-manager", "4 Pod loadline-test-scheduler", "5 Pod loadline-test-gauge",
	})
	for _, o := range render(t, "tests: {enabled: false}") {
		if isTest(o) {
			t.Errorf("without tests there is a %s %s", o.GetKind(), o.GetName())
		}
	}
}

func TestValuesThatTheChartBringsAreThoseThatAreTested(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "values-*.yaml") {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "values-"), ".yaml")
		brought, err := os.ReadFile(filepath.Clean(file))
		must(t, err)
		tested, err := os.ReadFile(matrix(t)[name])
		must(t, err)
		same(t, "the values "+name, string(tested), string(brought))
	}
}

func TestTestsSeeWhatIsInstalled(t *testing.T) {
	t.Parallel()
	const pod = "loadline-test-scheduler"
	command := func(all []*unstructured.Unstructured, name string) []string {
		return as[corev1.Pod](t, all, "Pod", name).Spec.Containers[0].Command
	}
	all := render(t, "scheduler: {schedulerName: mine}\nmanager: {enabled: false}")
	same(t, "who places the scheduler's", as[corev1.Pod](t, all, "Pod", pod).Spec.SchedulerName, "mine")
	same(t, "what it looks at", command(all, pod), []string{"kubectl-loadline", "status", "--namespace=loadline-system", "--wait=1m", "--without=manager"})
	same(t, "what is there", names(all, "Pod"), []string{"loadline-test-gauge", pod})

	all = renderFile(t, filepath.Join(chartDir(), "values-insight-only.yaml"))
	same(t, "what is there with gauges alone", names(all, "Pod"), []string{"loadline-test-gauge"})
	same(t, "what it looks at", command(all, "loadline-test-gauge"),
		[]string{"kubectl-loadline", "status", "--namespace=loadline-system", "--wait=1m", "--without=manager", "--without=scheduler"})

	all = render(t, "rbac: {create: false}")
	same(t, "what it does without rights", command(all, pod), []string{"kubectl-loadline", "version"})
	replay := get(t, all, "TraceReplay", "loadline-test").GetName()
	report := as[corev1.Pod](t, all, "Pod", "loadline-test-manager").Spec.Volumes[0].ConfigMap.Name
	same(t, "what the manager's waits for", report, replay+"-report")
}

func TestWhatDoesNotRunIsNotMissed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		values, without string
	}{
		{"{manager: {enabled: false}, metrics: {rules: {enabled: true}}}", "loadline-manager"},
		{"{scheduler: {enabled: false}, metrics: {rules: {enabled: true}}}", "loadline-scheduler"},
	} {
		rule := get(t, render(t, test.values), "PrometheusRule", "loadline")
		groups, _, err := unstructured.NestedSlice(rule.Object, "spec", "groups")
		must(t, err)
		var left []string
		for _, group := range groups {
			if group, ok := group.(map[string]any); ok {
				left = append(left, fmt.Sprint(group["name"]))
			}
		}
		if len(left) == 0 || slices.Contains(left, test.without) {
			t.Errorf("with %s there are the groups %q, want some without %s", test.values, left, test.without)
		}
	}
}
