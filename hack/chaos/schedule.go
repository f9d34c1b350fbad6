package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// kind is a kind of fault.
type kind string

// The kinds of faults.
const (
	killed        kind = "kill"            // a process, which is started again at the end of the fault
	stopped       kind = "stop"            // SIGSTOP, until the end of the fault
	delayed       kind = "delay"           // of a link, in both directions
	held          kind = "hold"            // a link on which all is lost that is sent
	refused       kind = "refuse"          // a link of which connections are reset, and no new ones made
	throttled     kind = "429"             // answers of the API server
	failing       kind = "500"             //
	unavailable   kind = "503"             //
	lostAnswers   kind = "lost answers"    // the API server does what it is asked, and the answer is an error
	watchesGone   kind = "410"             // watches end, and are told that their versions are too old
	tokenExpired  kind = "expired token"   // the next one comes in the middle of the fault
	certExpired   kind = "expired cert"    // of the API server
	etcdFull      kind = "etcd full"       //
	gaugesLie     kind = "lying gauges"    // the variant says how
	ratesLie      kind = "lying rates"     // of Prometheus
	nodeGone      kind = "node gone"       // for good; another one comes at the end of the fault
	kubeletAway   kind = "kubelet restart" // the node is not ready until the end of the fault
	crdsUpdated   kind = "CRDs updated"    // to definitions with a field more, and back
	namespaceGone kind = "namespace gone"  // in the middle of what goes on there
)

// fault is something that fails for a while.
type fault struct {
	Kind   kind
	Target string // a process, a link or a node; "" where there is one only
	// Variant is what the kind has several of.
	Variant string
	At      time.Duration // since the beginning
	For     time.Duration
	// Share is the fraction of requests that are answered, and Delay how long what is sent is delayed.
	Share float64
	Delay time.Duration
}

// String describes the fault.
func (f fault) String() string {
	what := slices.DeleteFunc([]string{string(f.Kind), f.Target, f.Variant}, func(s string) bool { return s == "" })
	text := fmt.Sprintf("%5.1f s to %5.1f s: %s", f.At.Seconds(), (f.At + f.For).Seconds(), strings.Join(what, " "))
	if f.Delay > 0 {
		text += fmt.Sprintf(" by %v", f.Delay)
	}
	if f.Share > 0 {
		text += fmt.Sprintf(" of %.0f %%", 100*f.Share)
	}
	return text
}

// targets are what can fail.
type targets struct {
	processes []string
	links     []string // that pass bytes on
	apiLinks  []string // that answer in place of an API server
	nodes     []string
}

// variants are those of the kinds that have several.
var variants = map[kind][]string{
	gaugesLie: {lieNegative, lieHuge, lieOld, lieOtherNode, lieGarbage, lieSilent, lieError},
	ratesLie:  {rateNegative, rateHuge, rateNaN, rateNone, rateError},
}

// often are the kinds that are drawn three times as often as others: what they break is found only where they meet other faults.
var often = []kind{killed, stopped, held, lostAnswers}

// draw draws a schedule of faults from a seed. Each target of a kind is as likely as any other.
func draw(seed uint64, t *targets, within time.Duration) []fault {
	random := rand.New(rand.NewPCG(seed, 0))
	of := map[kind][]string{
		killed: t.processes, stopped: t.processes, delayed: slices.Concat(t.links, t.apiLinks), held: slices.Concat(t.links, t.apiLinks),
		refused: slices.Concat(t.links, t.apiLinks), throttled: t.apiLinks, failing: t.apiLinks, unavailable: t.apiLinks, lostAnswers: t.apiLinks,
		watchesGone: t.apiLinks, tokenExpired: t.apiLinks, certExpired: t.apiLinks, nodeGone: t.nodes, kubeletAway: t.nodes,
		etcdFull: {""}, gaugesLie: {""}, ratesLie: {""}, crdsUpdated: {""}, namespaceGone: {""},
	}
	kinds := make([]kind, 0, len(of))
	for k := range of {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	kinds = slices.Concat(kinds, often, often)
	n := 4 + random.IntN(5)
	faults := make([]fault, 0, n)
	used := map[string]bool{} // one fault of a target at a time
	for len(faults) < n {
		k := kinds[random.IntN(len(kinds))]
		f := fault{Kind: k, Target: of[k][random.IntN(len(of[k]))]}
		if all := variants[k]; len(all) > 0 {
			f.Variant = all[random.IntN(len(all))]
		}
		f.For = time.Second + time.Duration(random.Int64N(int64(within/2)))
		f.At = time.Duration(random.Int64N(int64(within - f.For)))
		switch k {
		case delayed:
			f.Delay = time.Duration(20+random.IntN(1500)) * time.Millisecond
		case throttled, failing, unavailable, lostAnswers:
			f.Share = 0.2 + 0.8*random.Float64()
		default:
		}
		if busy := occupies(k) + f.Target; !used[busy] {
			used[busy] = true
			faults = append(faults, f)
		}
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return cmp.Compare(a.At, b.At) })
	return faults
}

// occupies names what a fault of a kind takes up together with its target: two faults that take up the same are not drawn together.
func occupies(k kind) string {
	switch k {
	case killed, stopped:
		return "process "
	case delayed, held, refused, throttled, failing, unavailable, lostAnswers, watchesGone, tokenExpired, certExpired:
		return "link "
	case nodeGone, kubeletAway:
		return "node "
	default:
		return string(k)
	}
}
