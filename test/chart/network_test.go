package chart

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// party is a pod that connects or is connected to, or, with an address alone, what is no pod.
type party struct {
	namespace string
	ofIt      labels.Set // the labels of the namespace, besides that with its name
	labels    labels.Set
	address   string
}

// network is what network policies allow between pods of the chart and others.
type network struct {
	t        *testing.T
	policies []*networkingv1.NetworkPolicy
	ports    map[string]int32 // by the component and the name of the port, as "manager health"
	pods     map[string]party // by the component
}

// networkOf returns the network of rendered objects.
func networkOf(t *testing.T, all []*unstructured.Unstructured) *network {
	t.Helper()
	n := &network{t: t, ports: map[string]int32{}, pods: map[string]party{}}
	for _, o := range all {
		var template *corev1.PodTemplateSpec
		switch o.GetKind() {
		case "NetworkPolicy":
			n.policies = append(n.policies, as[networkingv1.NetworkPolicy](t, all, o.GetKind(), o.GetName()))
			continue
		case "Deployment":
			template = &deployment(t, all, o.GetName()).Spec.Template
		case "DaemonSet":
			d, _ := gaugePods(t, all)
			template = &d.Spec.Template
		default:
			continue
		}
		component := strings.TrimPrefix(o.GetName(), "loadline-")
		n.pods[component] = party{namespace: o.GetNamespace(), labels: template.Labels}
		for _, port := range template.Spec.Containers[0].Ports {
			n.ports[component+" "+port.Name] = port.ContainerPort
		}
	}
	return n
}

// in reports whether a party may connect to a port of a component.
func (n *network) in(from party, component, port string) bool {
	n.t.Helper()
	number, is := n.ports[component+" "+port]
	if !is {
		n.t.Fatalf("%s has no port %s", component, port)
	}
	for _, p := range n.of(component) {
		for _, rule := range p.Spec.Ingress {
			named := slices.ContainsFunc(rule.Ports, func(r networkingv1.NetworkPolicyPort) bool { return r.Port.StrVal == port || r.Port.IntVal == number })
			if (named || len(rule.Ports) == 0) && n.among(p, rule.From, from) {
				return true
			}
		}
	}
	return false
}

// out reports whether a component may connect to a port of a party.
func (n *network) out(component string, to party, port int32, protocol corev1.Protocol) bool {
	n.t.Helper()
	for _, p := range n.of(component) {
		for _, rule := range p.Spec.Egress {
			named := slices.ContainsFunc(rule.Ports, func(r networkingv1.NetworkPolicyPort) bool { return r.Port.IntVal == port && *r.Protocol == protocol })
			if (named || len(rule.Ports) == 0) && n.among(p, rule.To, to) {
				return true
			}
		}
	}
	return false
}

// of returns the policies of a component, at least one, which are about both directions.
func (n *network) of(component string) []*networkingv1.NetworkPolicy {
	n.t.Helper()
	pod := n.pods[component]
	its := slices.DeleteFunc(slices.Clone(n.policies), func(p *networkingv1.NetworkPolicy) bool {
		return p.Namespace != pod.namespace || !n.selects(&p.Spec.PodSelector, pod.labels)
	})
	if len(its) == 0 || len(its[0].Spec.PolicyTypes) != 2 {
		n.t.Fatalf("%s may connect to everything, or everything to it", component)
	}
	return its
}

// among reports whether a party is one of the peers of a policy. With no peers everything is.
func (n *network) among(p *networkingv1.NetworkPolicy, peers []networkingv1.NetworkPolicyPeer, who party) bool {
	n.t.Helper()
	if len(peers) == 0 {
		return true
	}
	return slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil || who.address != "" {
			return peer.IPBlock != nil && who.address != "" && netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(netip.MustParseAddr(who.address))
		}
		here := peer.NamespaceSelector == nil && who.namespace == p.Namespace
		named := labels.Merge(labels.Set{"kubernetes.io/metadata.name": who.namespace}, who.ofIt)
		return (here || peer.NamespaceSelector != nil && n.selects(peer.NamespaceSelector, named)) && (peer.PodSelector == nil || n.selects(peer.PodSelector, who.labels))
	})
}

func (n *network) selects(s *metav1.LabelSelector, of labels.Set) bool {
	n.t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	must(n.t, err)
	return selector.Matches(of)
}

// Who there is besides the pods of the chart.
var (
	stranger   = party{namespace: "shop", labels: labels.Set{"app": "cart"}}
	pretender  = party{namespace: "shop", labels: labels.Set{"app.kubernetes.io/name": "loadline-manager", "app.kubernetes.io/instance": "loadline"}}
	prometheus = party{namespace: "observers", ofIt: labels.Set{"metrics": "enabled"}, labels: labels.Set{"app": "prometheus"}}
	apiServer  = party{address: "192.0.2.1"}
	dns        = party{namespace: "kube-system", labels: labels.Set{"k8s-app": "kube-dns"}}
	nodeDNS    = party{address: "169.254.20.10"}
	internet   = party{address: "203.0.113.7"}
)

func TestWhoMayConnectToAPortByDefault(t *testing.T) {
	t.Parallel()
	n := networkOf(t, render(t, ""))
	for _, test := range []struct {
		component, port string
		who             map[string]party
	}{
		{"gauge", "health", nil}, // but the kubelet of its node, of which no policy speaks
		{"manager", "health", nil},
		{"manager", "metrics", map[string]party{"Prometheus": prometheus}},
		{"scheduler", "https", map[string]party{"Prometheus": prometheus}},
		// The API server cannot be named on every cluster. What these ports show takes a token.
		{"gauge", "https", map[string]party{"Prometheus": prometheus, "the manager": n.pods["manager"], "a stranger": stranger, "a pretender": pretender, "the API server": apiServer}},
		{"manager", "https", map[string]party{"Prometheus": prometheus, "the manager": n.pods["manager"], "a stranger": stranger, "a pretender": pretender, "the API server": apiServer}},
	} {
		for who, from := range map[string]party{"Prometheus": prometheus, "the manager": n.pods["manager"], "a stranger": stranger, "a pretender": pretender, "the API server": apiServer} {
			_, want := test.who[who]
			same(t, fmt.Sprintf("whether %s may connect to the port %s of the %s", who, test.port, test.component), n.in(from, test.component, test.port), want)
		}
	}
}

func TestWhereTheAPIServerIsKnownNoStrangerReachesAnything(t *testing.T) {
	t.Parallel()
	n := networkOf(t, render(t, "networkPolicy: {readersFrom: [{ipBlock: {cidr: 192.0.2.0/28}}]}"))
	for at := range n.ports {
		component, port, _ := strings.Cut(at, " ")
		for who, from := range map[string]party{"a stranger": stranger, "a pretender": pretender, "the internet": internet} {
			same(t, fmt.Sprintf("whether %s may connect to the port %s of the %s", who, port, component), n.in(from, component, port), false)
		}
	}
	same(t, "whether the API server reaches the manager", n.in(apiServer, "manager", "https"), true)
	same(t, "whether the API server reaches a gauge", n.in(apiServer, "gauge", "https"), true)
	same(t, "whether the manager reaches a gauge", n.in(n.pods["manager"], "gauge", "https"), true)
	same(t, "whether Prometheus reaches a gauge", n.in(prometheus, "gauge", "https"), true)
}

func TestWhoMayReadMetricsMayConnect(t *testing.T) {
	t.Parallel()
	named := party{namespace: "monitoring", labels: labels.Set{"app": "prometheus"}}
	for values, want := range map[string]bool{
		"":                               false,
		"networkPolicy: {enabled: true}": false,
		"metrics: {readers: [{kind: ServiceAccount, name: p, namespace: monitoring}]}":                                         true,
		"networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}":        true,
		"{networkPolicy: {metricsFrom: []}, metrics: {readers: [{kind: ServiceAccount, name: p, namespace: monitoring}]}}":     true,
		"{networkPolicy: {metricsFrom: []}, metrics: {readers: [{kind: User, name: p, apiGroup: rbac.authorization.k8s.io}]}}": false,
		"networkPolicy: {metricsFrom: []}": false,
	} {
		n := networkOf(t, render(t, values))
		same(t, "whether it may connect to the manager, with "+values, n.in(named, "manager", "metrics"), want)
		same(t, "whether it may connect to the scheduler, with "+values, n.in(named, "scheduler", "https"), want)
		same(t, "whether the manager may ask it, with "+values, n.out("manager", named, 9090, corev1.ProtocolTCP), want)
	}
}

func TestWhereToPodsMayConnect(t *testing.T) {
	t.Parallel()
	const tcp, udp = corev1.ProtocolTCP, corev1.ProtocolUDP
	open := networkOf(t, render(t, ""))
	closed := networkOf(t, render(t, "networkPolicy: {apiServer: {cidrs: [192.0.2.1/32], ports: [6443]}, egress: [{ports: [{port: 443, protocol: TCP}], to: [{ipBlock: {cidr: 203.0.113.0/24}}]}]}"))
	counters := networkOf(t, render(t, "manager: {workCounters: {enabled: true}}"))
	gauges := open.pods["gauge"]
	for _, test := range []struct {
		what                         string
		n                            *network
		to                           party
		port                         int32
		protocol                     corev1.Protocol
		manager, scheduler, observer bool
	}{
		{"the API server", open, apiServer, 6443, tcp, true, true, true},
		{"the API server's port anywhere, as it is not known where that is", open, internet, 443, tcp, true, true, true},
		{"another port", open, apiServer, 22, tcp, false, false, false},
		{"names", open, dns, 53, udp, true, true, false},
		{"names of the node's own server", open, nodeDNS, 53, tcp, true, true, false},
		{"names of a server outside", open, internet, 53, udp, false, false, false},
		{"gauges", open, gauges, 8443, tcp, true, false, false},
		{"the health of gauges", open, gauges, 8081, tcp, false, false, false},
		{"Prometheus", open, prometheus, 9090, tcp, true, false, false},
		{"a stranger", open, stranger, 80, tcp, false, false, false},
		{"a pod that may have a work counter", counters, stranger, 80, tcp, true, false, false},
		{"what is no pod, where counters are read", counters, internet, 80, tcp, false, false, false},
		{"the API server where it is known", closed, apiServer, 6443, tcp, true, true, true},
		{"another address then", closed, party{address: "192.0.2.2"}, 6443, tcp, false, false, false},
		{"what is named besides", closed, internet, 443, tcp, true, false, false},
	} {
		same(t, "whether the manager may connect to "+test.what, test.n.out("manager", test.to, test.port, test.protocol), test.manager)
		same(t, "whether the scheduler may connect to "+test.what, test.n.out("scheduler", test.to, test.port, test.protocol), test.scheduler)
		same(t, "whether a gauge may connect to "+test.what, test.n.out("gauge", test.to, test.port, test.protocol), test.observer)
	}
}

func TestNetworkPoliciesMayBeLeftOut(t *testing.T) {
	t.Parallel()
	same(t, "the policies", names(render(t, "networkPolicy: {enabled: false}"), "NetworkPolicy"), []string{})
}
