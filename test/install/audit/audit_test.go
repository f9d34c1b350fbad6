package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"loadline.dev/loadline/test/install/audit"
)

const manager = "system:serviceaccount:loadline-system:loadline-manager"

// line is an event as an API server writes it.
func line(account, verb, uri, object string, code int) string {
	decision := map[int]string{200: "allow", 403: "forbid"}[code]
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","requestURI":%q,"verb":%q,`+
		`"user":{"username":%q,"groups":["system:serviceaccounts"]},"objectRef":%s,"responseStatus":{"metadata":{},"code":%d},`+
		`"requestReceivedTimestamp":"2026-11-20T18:00:00.123456Z","annotations":{"authorization.k8s.io/decision":%q,"authorization.k8s.io/reason":"a role"}}`+"\n",
		uri, verb, account, object, code, decision)
}

// the events of some requests.
var (
	watchPods   = line(manager, "watch", "/api/v1/pods?watch=true", `{"resource":"pods","apiVersion":"v1"}`, 200)
	streamPods  = line(manager, "watch", "/api/v1/pods?sendInitialEvents=true&watch=true", `{"resource":"pods","apiVersion":"v1"}`, 200)
	patchStatus = line(manager, "patch", "/apis/loadline.dev/v1alpha1/poolplans/shop/status",
		`{"resource":"poolplans","name":"shop","apiGroup":"loadline.dev","apiVersion":"v1alpha1","subresource":"status"}`, 200)
	updateLease = line(manager, "update", "/apis/coordination.k8s.io/v1/namespaces/a/leases/lock",
		`{"resource":"leases","namespace":"a","name":"lock","apiGroup":"coordination.k8s.io","apiVersion":"v1"}`, 200)
	deletePod  = line(manager, "delete", "/api/v1/namespaces/a/pods/p", `{"resource":"pods","namespace":"a","name":"p","apiVersion":"v1"}`, 403)
	readHealth = line(manager, "get", "/healthz", "null", 403)
)

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// check reads a log and checks it against one role, and returns what is unused and
// what was forbidden.
func check(t *testing.T, log string, rules []rbacv1.PolicyRule, namespaces ...string) (unused, forbidden []string) {
	t.Helper()
	requests, err := audit.Read(strings.NewReader(log), manager)
	if err != nil {
		t.Fatal(err)
	}
	grants, err := audit.Grants(manager, "Role r", rules, namespaces...)
	if err != nil {
		t.Fatal(err)
	}
	findings := audit.Check(requests, grants)
	for _, g := range findings.Unused {
		unused = append(unused, g.Right.String())
	}
	for i := range findings.Forbidden {
		forbidden = append(forbidden, findings.Forbidden[i].String())
	}
	return unused, forbidden
}

func TestAGrantIsUsedByARequestThatNeedsIt(t *testing.T) {
	t.Parallel()
	lock := rule("coordination.k8s.io", "leases", "update")
	lock.ResourceNames = []string{"lock"}
	other := rule("coordination.k8s.io", "leases", "update")
	other.ResourceNames = []string{"other"}
	for name, test := range map[string]struct {
		log        string
		rule       rbacv1.PolicyRule
		namespaces []string
		unused     []string
	}{
		"the same verb and resource":                {watchPods, rule("", "pods", "watch"), nil, nil},
		"another verb":                              {watchPods, rule("", "pods", "watch", "list"), nil, []string{"list pods"}},
		"a watch that begins with the list is both": {streamPods, rule("", "pods", "watch", "list"), nil, nil},
		"another group":                             {watchPods, rule("metrics.k8s.io", "pods", "watch"), nil, []string{"watch pods.metrics.k8s.io"}},
		"a subresource":                             {patchStatus, rule("loadline.dev", "poolplans/status", "patch"), nil, nil},
		"the resource instead of the subresource":   {patchStatus, rule("loadline.dev", "poolplans", "patch"), nil, []string{"patch poolplans.loadline.dev"}},
		"the subresource instead of the resource":   {watchPods, rule("", "pods/log", "watch"), nil, []string{"watch pods/log"}},
		"that name":                                 {updateLease, lock, nil, nil},
		"another name":                              {updateLease, other, nil, []string{"update leases.coordination.k8s.io"}},
		"that namespace":                            {updateLease, lock, []string{"b", "a"}, nil},
		"another namespace":                         {updateLease, lock, []string{"b"}, []string{"update leases.coordination.k8s.io"}},
		"all namespaces need more than one's right": {watchPods, rule("", "pods", "watch"), []string{"a"}, []string{"watch pods"}},
		"a request that was forbidden needed more":  {deletePod, rule("", "pods", "delete"), nil, []string{"delete pods"}},
		"a request that admission refused needs it": {
			strings.Replace(deletePod, `"forbid"`, `"allow"`, 1), rule("", "pods", "delete"), nil, nil,
		},
		"nothing was asked":   {"", rule("", "pods", "watch"), nil, []string{"watch pods"}},
		"somebody else asked": {strings.ReplaceAll(watchPods, manager, "system:serviceaccount:shop:default"), rule("", "pods", "watch"), nil, []string{"watch pods"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unused, _ := check(t, test.log, []rbacv1.PolicyRule{test.rule}, test.namespaces...)
			if diff := cmp.Diff(test.unused, unused); diff != "" {
				t.Errorf("unused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsForbiddenIsToldOnce(t *testing.T) {
	t.Parallel()
	_, forbidden := check(t, deletePod+readHealth+watchPods+deletePod, nil)
	want := []string{
		"18:00:00: " + manager + " may not delete pods p in namespace a: a role",
		"18:00:00: " + manager + " may not get /healthz: a role",
	}
	if diff := cmp.Diff(want, forbidden); diff != "" {
		t.Errorf("forbidden (-want +got):\n%s", diff)
	}
}

func TestALineThatIsBeingWrittenIsLeftOut(t *testing.T) {
	t.Parallel()
	requests, err := audit.Read(strings.NewReader(watchPods+patchStatus[:100]), manager)
	if err != nil || len(requests) != 1 {
		t.Errorf("%d requests and %v, want 1 and no error", len(requests), err)
	}
}

func TestWhatIsNoAuditLogIsRefusedWithTheLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ log, want string }{
		"no JSON":           {watchPods + "I0101 something\n", "line 2 of the audit log: invalid character"},
		"another object":    {`{"kind":"Pod","apiVersion":"v1"}` + "\n", "line 1 of the audit log: v1 Pod is not an Event of audit.k8s.io/v1"},
		"an event too long": {strings.Repeat("x", 1<<21) + "\n", "line 1 of the audit log: bufio: buffer full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := audit.Read(strings.NewReader(test.log), manager); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestARuleThatGrantsAllOfSomethingIsRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []rbacv1.PolicyRule{
		rule("*", "pods", "get"), rule("", "*", "get"), rule("", "pods", "*"), rule("", "*/scale", "get"), {NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
	} {
		if _, err := audit.Grants(manager, "ClusterRole r", []rbacv1.PolicyRule{bad}); err == nil || !strings.Contains(err.Error(), "ClusterRole r: rules[0]") {
			t.Errorf("%v: got %v, want an error that names the rule", bad, err)
		}
	}
}

func TestAGrantTellsWhoMayDoWhatAndWhere(t *testing.T) {
	t.Parallel()
	lock := rule("apps", "deployments/scale", "update")
	lock.ResourceNames = []string{"web", "db"}
	grants, err := audit.Grants(manager, "Role r", []rbacv1.PolicyRule{lock}, "shop")
	if err != nil || len(grants) != 1 {
		t.Fatalf("%d grants and %v, want 1", len(grants), err)
	}
	if got, want := grants[0].String(), "Role r lets "+manager+" update deployments.apps/scale web, db in namespace shop"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
