package clitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"loadline.dev/loadline/pkg/cli/access"
)

// servedKind is a kind of objects that the test's API server serves.
type servedKind struct {
	group, version, kind, resource string
	namespaced                     bool
}

var servedKinds = []servedKind{
	{"", "v1", "Namespace", "namespaces", false},
	{"", "v1", "Node", "nodes", false},
	{"", "v1", "Pod", "pods", true},
	{"", "v1", "ConfigMap", "configmaps", true},
	{"", "v1", "PersistentVolume", "persistentvolumes", false},
	{"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", true},
	{"", "v1", "ServiceAccount", "serviceaccounts", true},
	{"", "v1", "LimitRange", "limitranges", true},
	{"", "v1", "ResourceQuota", "resourcequotas", true},
	{"apps", "v1", "Deployment", "deployments", true},
	{"apps", "v1", "DaemonSet", "daemonsets", true},
	{"coordination.k8s.io", "v1", "Lease", "leases", true},
	{"storage.k8s.io", "v1", "CSIDriver", "csidrivers", false},
	{"storage.k8s.io", "v1", "CSINode", "csinodes", false},
	{"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", true},
	{"storage.k8s.io", "v1", "StorageClass", "storageclasses", false},
	{"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", false},
	{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false},
	{"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false},
	{"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies", false},
	{"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", false},
	{"loadline.dev", "v1alpha1", "WorkloadProfile", "workloadprofiles", true},
	{"loadline.dev", "v1alpha1", "NodeProfile", "nodeprofiles", false},
	{"loadline.dev", "v1alpha1", "PoolPlan", "poolplans", false},
	{"loadline.dev", "v1alpha1", "Remediation", "remediations", true},
	{"loadline.dev", "v1alpha1", "RemediationPolicy", "remediationpolicies", false},
	{"loadline.dev", "v1alpha1", "ShareTree", "sharetrees", false},
	{"loadline.dev", "v1alpha1", "TraceReplay", "tracereplays", true},
}

// Server is an API server that answers the verbs' requests about objects that do not change. It
// refuses requests for the given paths.
type Server struct {
	*httptest.Server
	scheme  *runtime.Scheme
	Objects []client.Object
	kinds   []servedKind
	refused []string // paths, or prefixes of paths that end in *
	// Special answers paths of its own, by their ends.
	Special map[string]func(*http.Request) (any, error)
}

// NewServer starts one. Change its fields before the first request.
func NewServer(t *testing.T, objects ...client.Object) *Server {
	t.Helper()
	scheme, err := access.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{scheme: scheme, Objects: objects, kinds: servedKinds}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// Without leaves out the kinds of an API group.
func (s *Server) Without(group string) *Server {
	s.kinds = slices.DeleteFunc(slices.Clone(s.kinds), func(k servedKind) bool { return k.group == group })
	return s
}

// Pod returns the pod with a name, to be changed, or nil.
func (s *Server) Pod(name string) *corev1.Pod {
	for _, o := range s.Objects {
		if p, is := o.(*corev1.Pod); is && p.Name == name {
			return p
		}
	}
	return nil
}

// Refuse forbids paths.
func (s *Server) Refuse(paths ...string) *Server {
	s.refused = append(s.refused, paths...)
	return s
}

// Kubeconfig writes a file that leads to the server, into the namespace etl.
func (s *Server) Kubeconfig(t *testing.T) string {
	t.Helper()
	return WriteFile(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: local, cluster: {server: %q}}, {name: remote, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {token: secret}}]
contexts:
- {name: here, context: {cluster: local, user: me, namespace: etl}}
- {name: there, context: {cluster: remote, user: me}}
`, s.URL))
}

// Ask runs a command line against the server.
func (s *Server) Ask(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return Run(t, "", append(args, "--kubeconfig", s.Kubeconfig(t))...)
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer, err := s.answer(r)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		w.WriteHeader(int(status.Status().Code))
		of := status.Status()
		of.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		answer = of
	}
	values, several := answer.(Lines)
	if !several {
		values = Lines{answer}
	}
	for _, value := range values {
		_ = json.NewEncoder(w).Encode(value) // a client that is gone needs no answer
	}
}

// Lines are answered as JSON values on lines of their own.
type Lines []any

func (s *Server) answer(r *http.Request) (any, error) {
	path := strings.Trim(r.URL.Path, "/")
	for _, refused := range s.refused {
		start, more := strings.CutSuffix(strings.Trim(refused, "/"), "*")
		if path == start || more && strings.HasPrefix(path, start) {
			return nil, apierrors.NewForbidden(schema.GroupResource{Resource: path}, "", errors.New("not for you"))
		}
	}
	for end, answer := range s.Special {
		if strings.HasSuffix(path, end) {
			return answer(r)
		}
	}
	switch parts := strings.Split(path, "/"); {
	case path == "version":
		return map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.3"}, nil
	case path == "api":
		return metav1.APIVersions{Versions: []string{"v1"}}, nil
	case path == "apis":
		return metav1.APIGroupList{Groups: s.groups()}, nil
	case parts[0] == "api" && len(parts) == 2:
		return s.resources("", "v1")
	case parts[0] == "apis" && len(parts) == 2:
		for _, g := range s.groups() {
			if g.Name == parts[1] {
				return g, nil
			}
		}
	case parts[0] == "apis" && len(parts) == 3:
		return s.resources(parts[1], parts[2])
	case parts[0] == "api":
		return s.read("", parts[2:], r)
	case parts[0] == "apis":
		return s.read(parts[1], parts[3:], r)
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: path}, "")
}

func (s *Server) groups() (groups []metav1.APIGroup) {
	for _, k := range s.kinds {
		if k.group == "" || slices.ContainsFunc(groups, func(g metav1.APIGroup) bool { return g.Name == k.group }) {
			continue
		}
		version := metav1.GroupVersionForDiscovery{GroupVersion: k.group + "/" + k.version, Version: k.version}
		groups = append(groups, metav1.APIGroup{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: k.group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		})
	}
	return groups
}

func (s *Server) resources(group, version string) (any, error) {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: strings.TrimPrefix(group+"/"+version, "/"),
	}
	for _, k := range s.kinds {
		if k.group == group && k.version == version {
			list.APIResources = append(list.APIResources,
				metav1.APIResource{Name: k.resource, Kind: k.kind, Namespaced: k.namespaced, Verbs: metav1.Verbs{"get", "list"}},
				metav1.APIResource{Name: k.resource + "/status", Kind: k.kind, Namespaced: k.namespaced, Verbs: metav1.Verbs{"get"}})
		}
	}
	if list.APIResources == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group}, version)
	}
	return list, nil
}

// read returns an object or a list of them: parts are [namespaces NAMESPACE] RESOURCE
// [NAME].
func (s *Server) read(group string, parts []string, r *http.Request) (any, error) {
	namespace := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	i := slices.IndexFunc(s.kinds, func(k servedKind) bool { return k.group == group && k.resource == parts[0] })
	if i < 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: parts[0]}, "")
	}
	kind := s.kinds[i]
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	node, onNode := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "spec.nodeName=")
	items := []any{}
	for _, o := range s.Objects {
		gvk, err := apiutil.GVKForObject(o, s.scheme)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if gvk.Group != group || gvk.Kind != kind.kind || namespace != "" && o.GetNamespace() != namespace || !selector.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		if pod, is := o.(*corev1.Pod); onNode && is && pod.Spec.NodeName != node {
			continue
		}
		typed, _ := o.DeepCopyObject().(client.Object)
		typed.GetObjectKind().SetGroupVersionKind(gvk)
		if len(parts) == 2 && o.GetName() == parts[1] {
			return typed, nil
		}
		items = append(items, typed)
	}
	if len(parts) == 2 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: parts[0]}, parts[1])
	}
	return map[string]any{
		"apiVersion": strings.TrimPrefix(group+"/"+kind.version, "/"), "kind": kind.kind + "List", "metadata": metav1.ListMeta{ResourceVersion: "1"}, "items": items,
	}, nil
}
