package integration

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheServerRefusesBadMeasurements(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	const (
		target  = "target: {kind: Job, name: etl}"
		at      = "spec.measurement"
		operate = "operator must be In, NotIn, Exists or DoesNotExist"
		half    = `a precision is the half width of a confidence interval of a loading: write a number from 0.001 to below 1, such as "0.03"`
		peer    = `.peer: Invalid value: the network job needs a peer, the address of a "loadline-probe sink" such as 10.0.0.7:7070, and no other job has one`
		copied  = ".resources: Invalid value: the slowdown of copies tells the vector of a job that keeps two resources busy: name these two, or measure by probes"
	)
	many := "resources: [" + strings.TrimSuffix(strings.Repeat("{name: rX, job: cpu},", 9), ",") + "]"
	for name, test := range map[string]struct{ measurement, want string }{
		"of the running pods":       {"{}", ""},
		"of a Job":                  {"{" + target + "}", ""},
		"of a CronJob":              {"{target: {kind: CronJob, name: nightly}}", ""},
		"with all that can be said": {"{" + target + ", method: probes, resources: [{name: cpu, threads: 4}, {name: nvme, job: disk-write}, {name: network, peer: '10.0.0.7:7070'}], nodes: {matchLabels: {a: b}}, neighbours: correct, precision: 50m, maxRounds: 40, timeoutSeconds: 5, budgetSeconds: 604800, validSeconds: 60}", ""},
		"by copies":                 {"{" + target + ", method: copies, resources: [{name: cpu}, {name: disk}]}", ""},
		"as precise as can be":      {"{precision: '0.001'}", ""},
		"of interference":           {"{" + target + ", interference: [{name: llc}, {name: memory-bandwidth, job: memory-read}, {name: node-cache, job: llc}]}", ""},

		"of a Deployment":              {"{target: {kind: Deployment, name: web}}", at + `.target.kind: Unsupported value: "Deployment": supported values: "Job", "CronJob"`},
		"without a name":               {"{target: {kind: Job}}", at + ".target.name: Required value"},
		"of an empty name":             {"{target: {kind: Job, name: ''}}", at + `.target.name: Invalid value: ""`},
		"by guessing":                  {"{method: guess}", at + `.method: Unsupported value: "guess": supported values: "probes", "copies"`},
		"by copies of nothing":         {"{method: copies, resources: [{name: cpu}, {name: disk}]}", at + ".target: Required value: copies are run of a target: name the Job or CronJob to take the pod template from, or measure by probes"},
		"by copies of three resources": {"{" + target + ", method: copies, resources: [{name: cpu}, {name: disk}, {name: memory-bandwidth}]}", at + copied},
		"by copies of one resource":    {"{" + target + ", method: copies, resources: [{name: cpu}]}", at + copied},
		"by copies of any resource":    {"{" + target + ", method: copies}", at + copied},

		"of interference of running pods": {"{interference: [{name: llc}]}", at + ".interference: Invalid value: interference is measured by probes beside a target"},
		"of interference by copies":       {"{" + target + ", method: copies, resources: [{name: cpu}, {name: disk}], interference: [{name: llc}]}", at + ".interference: Invalid value: interference is measured by probes beside a target"},
		"of interference with a queue":    {"{" + target + ", resources: [{name: memory-bandwidth}], interference: [{name: memory-bandwidth}]}", at + ".interference: Invalid value: a resource has a queue, or is shared without one"},
		"of interference by no job":       {"{" + target + ", interference: [{name: cache}]}", at + ".interference[0].job: Required value: say which standard job presses there"},
		"of interference by another job":  {"{" + target + ", interference: [{name: llc, job: cpu}]}", at + `.interference[0].job: Unsupported value: "cpu"`},

		"of no resource":            {"{resources: []}", at + ".resources: Invalid value"},
		"of too many resources":     {"{" + many + "}", at + ".resources: Too many: 9: must have at most 8 items"},
		"of one resource twice":     {"{resources: [{name: cpu}, {name: cpu}]}", at + `.resources[1]: Duplicate value: {"name":"cpu"}`},
		"of a name in capitals":     {"{resources: [{name: CPU, job: cpu}]}", at + `.resources[0].name: Invalid value: "CPU": a resource name consists of`},
		"of a name too long":        {"{resources: [{name: " + strings.Repeat("a", 64) + ", job: cpu}]}", at + ".resources[0].name: Too long"},
		"by an unknown job":         {"{resources: [{name: cpu, job: gpu}]}", at + `.resources[0].job: Unsupported value: "gpu"`},
		"by no job":                 {"{resources: [{name: nvme}]}", at + ".resources[0].job: Required value: say which standard job keeps the resource busy: cpu, disk-read, disk-write, network or memory-bandwidth"},
		"of a network without peer": {"{resources: [{name: network}]}", at + ".resources[0]" + peer},
		"by a network job alone":    {"{resources: [{name: uplink, job: network}]}", at + ".resources[0]" + peer},
		"of a cpu with a peer":      {"{resources: [{name: cpu, peer: '10.0.0.7:7070'}]}", at + ".resources[0]" + peer},
		"of no threads":             {"{resources: [{name: cpu, threads: 0}]}", at + ".resources[0].threads: Invalid value: 0"},
		"of too many threads":       {"{resources: [{name: cpu, threads: 16385}]}", at + ".resources[0].threads: Invalid value: 16385"},

		"on nodes that are not so":   {"{nodes: {matchExpressions: [{key: a, operator: Is, values: [b]}]}}", at + ".nodes: Invalid value: " + operate},
		"on nodes in nothing":        {"{nodes: {matchExpressions: [{key: a, operator: In}]}}", at + ".nodes: Invalid value: operators In and NotIn need values; Exists and DoesNotExist take none"},
		"beside unknown neighbours":  {"{neighbours: ignore}", at + `.neighbours: Unsupported value: "ignore": supported values: "wait", "correct"`},
		"precise beyond belief":      {"{precision: '0.0001'}", at + `.precision: Invalid value: "0.0001": ` + half},
		"not precise at all":         {"{precision: 1}", at + ".precision: Invalid value: 1: " + half},
		"of a negative precision":    {"{precision: '-0.03'}", at + `.precision: Invalid value: "-0.03": ` + half},
		"of a precision of NaN":      {"{precision: NaN}", at + `.precision: Invalid value: "NaN": a precision is the half width`},
		"of an endless exponent":     {"{precision: '1e-999999999999'}", at + `.precision: Invalid value`},
		"of a percentage":            {"{precision: 3%}", at + `.precision: Invalid value`},
		"of a floating-point number": {"{precision: 0.03}", at + `.precision: Invalid value: "number"`},
		"of one round":               {"{maxRounds: 1}", at + ".maxRounds: Invalid value: 1"},
		"of 41 rounds":               {"{maxRounds: 41}", at + ".maxRounds: Invalid value: 41"},
		"of four seconds":            {"{timeoutSeconds: 4}", at + ".timeoutSeconds: Invalid value: 4"},
		"of more than a day":         {"{timeoutSeconds: 86401}", at + ".timeoutSeconds: Invalid value: 86401"},
		"of no budget":               {"{budgetSeconds: 29}", at + ".budgetSeconds: Invalid value: 29"},
		"that is old at once":        {"{validSeconds: 59}", at + ".validSeconds: Invalid value: 59"},
		"with a misspelt field":      {"{tagret: {kind: Job, name: etl}}", `unknown field "spec.measurement.tagret"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, "  selector: {}\n  measurement: "+test.measurement), test.want)
		})
	}
}

func TestAProfileThatIsMeasuredKeepsTheOtherRules(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	const measured = "  selector: {}\n  measurement: {}\n"
	for name, test := range map[string]struct{ spec, want string }{
		"measured alone":               {measured, ""},
		"measured, of a neutral time":  {measured + "  neutralMillis: 100", ""},
		"declared and measured":        {measured + "  resources: [{name: cpu, loading: '0.5'}]", ""},
		"declared by demand":           {measured + "  resources: [{name: cpu, demandMillis: 50}]\n  neutralMillis: 100", ""},
		"neither declared nor so":      {"  selector: {}\n  neutralMillis: 100", "spec.resources: Required value: list the resources that the pods use, or say under measurement how to measure that, or under observation that gauges observe it"},
		"measured, none declared":      {measured + "  resources: []", "spec.resources: Invalid value"},
		"measured, and too much":       {measured + "  resources: [{name: cpu, loading: '0.6'}, {name: disk, loading: '0.6'}]", "spec.resources: Invalid value: the loadings add up to more than 1"},
		"measured, and too long":       {measured + "  resources: [{name: cpu, demandMillis: 101}]\n  neutralMillis: 100", "spec.resources: Invalid value: the loadings add up to more than 1"},
		"a demand of an unknown whole": {measured + "  resources: [{name: cpu, demandMillis: 50}]", "spec.neutralMillis: Required value: demandMillis is turned into a loading"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

func TestTheServerRefusesBadCalibrations(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: NodeProfile\nmetadata: {name: class}"
	const at = "spec.calibration"
	for name, test := range map[string]struct{ calibration, want string }{
		"of two resources":          {"{resources: [{name: cpu}, {name: nvme, job: disk-read}]}", ""},
		"with all that can be said": {"{resources: [{name: network, peer: 'sink:7070'}], maxServers: 256, budgetSeconds: 10, validSeconds: 60}", ""},

		"of nothing":                {"{}", at + ".resources: Required value"},
		"of no resource":            {"{resources: []}", at + ".resources: Invalid value"},
		"of one resource twice":     {"{resources: [{name: cpu}, {name: cpu}]}", at + `.resources[1]: Duplicate value: {"name":"cpu"}`},
		"of a name in capitals":     {"{resources: [{name: CPU, job: cpu}]}", at + `.resources[0].name: Invalid value: "CPU": a resource name consists of`},
		"by an unknown job":         {"{resources: [{name: cpu, job: gpu}]}", at + `.resources[0].job: Unsupported value: "gpu"`},
		"by no job":                 {"{resources: [{name: nvme}]}", at + ".resources[0].job: Required value: say which standard job keeps the resource busy"},
		"of a network without peer": {"{resources: [{name: network}]}", at + ".resources[0].peer: Invalid value: the network job needs a peer"},
		"of no servers":             {"{resources: [{name: cpu}], maxServers: 0}", at + ".maxServers: Invalid value: 0"},
		"of too many servers":       {"{resources: [{name: cpu}], maxServers: 257}", at + ".maxServers: Invalid value: 257"},
		"of no time":                {"{resources: [{name: cpu}], budgetSeconds: 9}", at + ".budgetSeconds: Invalid value: 9"},
		"that is old at once":       {"{resources: [{name: cpu}], validSeconds: 59}", at + ".validSeconds: Invalid value: 59"},
		"with a misspelt field":     {"{resources: [{name: cpu}], maxSevers: 4}", `unknown field "spec.calibration.maxSevers"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, "  selector: {}\n  calibration: "+test.calibration), test.want)
		})
	}
	check(t, admit(t, header, "  selector: {}"), "spec.resources: Required value: list the resources and their servers, or say under calibration which of them to measure")
	check(t, admit(t, header, "  selector: {}\n  resources: [{name: gpu, servers: 4}]\n  calibration: {resources: [{name: cpu}]}"), "")
	check(t, admit(t, header, fmt.Sprintf("  selector: {}\n  calibration: {resources: [%s]}", strings.TrimSuffix(strings.Repeat("{name: rX, job: cpu},", 9), ","))),
		at+".resources: Too many: 9: must have at most 8 items")
}
