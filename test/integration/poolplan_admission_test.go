package integration

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheServerRefusesBadPoolPlans(t *testing.T) {
	t.Parallel()
	const (
		header = "apiVersion: loadline.dev/v1alpha1\nkind: PoolPlan\nmetadata: {name: plan}"
		good   = `arrival: {ratePerSecond: "0.6"}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 3000}`
		target = "scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}"
	)
	class := func(text string) string { return "  classes: [{name: a, " + text + "}]\n" }
	many := func(n int) string {
		var text strings.Builder
		text.WriteString("  classes:\n")
		for i := range n {
			fmt.Fprintf(&text, "  - {name: a%d, %s}\n", i, good)
		}
		text.WriteString("  mode: apply\n  pools:\n")
		for i := range n {
			fmt.Fprintf(&text, "  - {name: a%d, classes: [a%d], %s, maxServers: 20}\n", i, i, strings.Replace(target, "web", fmt.Sprintf("web-%d", i), 1))
		}
		return text.String()
	}
	for name, test := range map[string]struct{ spec, want string }{
		"two classes":  {"  classes: [{name: a, " + good + "}, {name: b, " + good + "}]", ""},
		"of a profile": {class("profile: {namespace: shop, name: cart}"), ""},
		"by a query":   {class("arrival: {query: rate}, service: {query: time, scv: 0}, sla: {responseTimeMillis: 3000, probability: 990m}, costPerServer: 2") + "  prometheus: {address: 'http://prometheus:9090/path'}", ""},
		"no arrivals":  {class(strings.Replace(good, "0.6", "0", 1)), ""},
		"applied":      {class(good) + "  mode: apply\n  pools: [{name: p, classes: [a], " + target + ", minServers: 2, maxServers: 9, serversPerReplica: 3}]\n  scaling: {tolerance: '0.2', stabilizationSeconds: 0}", ""},
		"the maximum":  {many(64), ""},

		"no class":                {"  classes: []", "spec.classes: Invalid value"},
		"a class twice":           {"  classes: [{name: a, " + good + "}, {name: a, " + good + "}]", `spec.classes[1]: Duplicate value: {"name":"a"}`},
		"too many classes":        {many(65), "spec.classes: Too many: 65: must have at most 64 items"},
		"a name in capitals":      {"  classes: [{name: A, " + good + "}]", `spec.classes[0].name: Invalid value: "A": a name consists of lower-case letters`},
		"an SLA left out":         {class("arrival: {ratePerSecond: 1}, service: {meanMillis: 1}"), "spec.classes[0]: Invalid value: give arrival, service (meanMillis or query) and sla, or a profile that has what is left out"},
		"y above 1":               {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 1}, sla: {responseTimeMillis: 3, probability: "1.2"}`), `spec.classes[0].sla.probability: Invalid value: "1.2": a probability is a number above 0 and below 1, such as "0.95"`},
		"y of 1":                  {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 1}, sla: {responseTimeMillis: 3, probability: 1}`), "spec.classes[0].sla.probability: Invalid value: 1"},
		"x of 0":                  {class(`arrival: {ratePerSecond: 1}, service: {meanMillis: 1}, sla: {responseTimeMillis: 0}`), "spec.classes[0].sla.responseTimeMillis: Invalid value: 0"},
		"a service time of 0":     {class(strings.Replace(good, "1000", "0", 1)), "spec.classes[0].service.meanMillis: Invalid value: 0"},
		"a negative rate":         {class(strings.Replace(good, "0.6", "-1", 1)), `spec.classes[0].arrival.ratePerSecond: Invalid value: "-1": a rate is how many jobs arrive per second`},
		"a rate that is NaN":      {class(strings.Replace(good, "0.6", "NaN", 1)), `spec.classes[0].arrival.ratePerSecond: Invalid value: "NaN": a rate is how many jobs`},
		"a rate with an exponent": {class(strings.Replace(good, "0.6", "1e999999999", 1)), "spec.classes[0].arrival.ratePerSecond: Invalid value"},
		"a rate and a query":      {class(strings.Replace(good, `"0.6"`, `"0.6", query: rate`, 1)) + "  prometheus: {address: 'http://p'}", "spec.classes[0].arrival: Invalid value: give either ratePerSecond (a number) or query (PromQL), and not both"},
		"two service times":       {class(strings.Replace(good, "1000", "1000, query: time", 1)) + "  prometheus: {address: 'http://p'}", "spec.classes[0].service: Invalid value: give either meanMillis"},
		"a query without server":  {class("arrival: {query: rate}, service: {meanMillis: 1000}, sla: {responseTimeMillis: 3000}"), "spec.prometheus: Invalid value: a query needs a Prometheus that answers it: set spec.prometheus.address"},
		"no URL":                  {class(good) + "  prometheus: {address: prometheus}", `spec.prometheus.address: Invalid value: "prometheus": an address is a URL such as http://prometheus.monitoring:9090`},
		"a negative variance":     {class(strings.Replace(good, "1000", "1000, scv: '-1'", 1)), "spec.classes[0].service.scv: Invalid value"},
		"a free server":           {class(good + ", costPerServer: 0"), "spec.classes[0].costPerServer: Invalid value: 0: a cost is a number above 0"},
		"an unknown discipline":   {class(good) + "  discipline: lifo", `spec.discipline: Unsupported value: "lifo": supported values: "fcfs", "hol", "pdp", "late-last"`},
		"an unknown strategy":     {class(good) + "  strategy: best", "spec.strategy: Unsupported value"},
		"an unknown mode":         {class(good) + "  mode: try", "spec.mode: Unsupported value"},

		"apply without pools":        {class(good) + "  mode: apply", "spec.pools: Invalid value: the mode apply scales pools: list them, each with its scaleTarget"},
		"apply without a target":     {class(good) + "  mode: apply\n  pools: [{name: p, classes: [a]}]", "spec.pools: Invalid value: the mode apply scales pools"},
		"apply without a maximum":    {class(good) + "  mode: apply\n  pools: [{name: p, classes: [a], " + target + "}]", "spec.pools: Invalid value: the mode apply scales pools: write for each how many servers it may have at most, such as maxServers: 20"},
		"pools and a strategy":       {class(good) + "  strategy: shared\n  pools: [{name: p, classes: [a]}]", "spec.strategy: Invalid value: the pools that are listed say how classes share them"},
		"a pool twice":               {class(good) + "  pools: [{name: p, classes: [a]}, {name: p, classes: [a]}]", `spec.pools[1]: Duplicate value: {"name":"p"}`},
		"a class in two pools":       {class(good) + "  pools: [{name: p, classes: [a]}, {name: q, classes: [a]}]", "spec.pools: Invalid value: when pools are listed, each class belongs to exactly one of them"},
		"a class in no pool":         {"  classes: [{name: a, " + good + "}, {name: b, " + good + "}]\n  pools: [{name: p, classes: [a]}]", "spec.pools: Invalid value: when pools are listed, each class belongs to exactly one of them"},
		"a pool of an unknown class": {class(good) + "  pools: [{name: p, classes: [a, b]}]", "spec.pools: Invalid value: a pool names a class that is not in spec.classes"},
		"min above max":              {class(good) + "  pools: [{name: p, classes: [a], minServers: 3, maxServers: 2}]", "spec.pools[0]: Invalid value: minServers is more than maxServers"},
		"a replica above max":        {class(good) + "  pools: [{name: p, classes: [a], serversPerReplica: 3, maxServers: 2}]", "spec.pools[0]: Invalid value: serversPerReplica is more than maxServers"},
		"a target of no kind":        {class(good) + "  pools: [{name: p, classes: [a], scaleTarget: {apiVersion: apps/v1, namespace: shop, name: web}}]", "spec.pools[0].scaleTarget.kind: Required value"},
		"a version of nothing":       {class(good) + "  pools: [{name: p, classes: [a], scaleTarget: {apiVersion: a/b/c, kind: D, namespace: shop, name: web}}]", "an apiVersion is GROUP/VERSION, such as apps/v1"},

		"a tolerance above 1":      {class(good) + "  scaling: {tolerance: '1.1'}", "spec.scaling.tolerance: Invalid value: \"1.1\": a tolerance is a fraction of the arrival rate"},
		"a negative stabilization": {class(good) + "  scaling: {stabilizationSeconds: -1}", "spec.scaling.stabilizationSeconds: Invalid value: -1"},
		"a step of nothing":        {class(good) + "  scaling: {maxStepServers: 0}", "spec.scaling.maxStepServers: Invalid value: 0"},
		"a misspelt field":         {class(good) + "  statergy: auto", `unknown field "spec.statergy"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}
