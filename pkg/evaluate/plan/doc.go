// Package plan finds the changes of a cluster that win most together: requests and limits that are raised or lowered, and pods that
// move. A remedy for each slowed pod by itself sends forty pods to the one node that looks best; here each change is judged with all
// earlier ones in place, and takes up the room that it needs.
//
// # What is won
//
// A pod has an excess as far as its dilation is above a threshold: the smallest dilation of a finding, or the promise of its profile
// where that is lower. The excess of a cluster is the sum over its pods, weighted by their priorities. The plan is a sequence of
// changes, each of which takes from it what its row says, so that the rows add up to what the whole plan wins.
//
// What a pod waits at disks stays as it was observed: no step is for that, though a move may mend it as well, or bring two together there.
//
// How a pod fares after changes follows from how it was observed to fare and from the model of its node (package observed): what it
// waits changes in proportion to what the model has it wait, and grows by at least as much as that grows.
//
// # Which changes are allowed
//
// A pod moves only where kube-scheduler's own filters let it run once the earlier changes are made ([node.Feasibility]), and only if it
// may be disturbed. No change pushes a pod beyond a promise that is enforced, none slows a pod down about as badly as another was
// before, and none is proposed whose win may be none, see [Interval], or is below [observed.WorthAtLeast].
//
// # The search
//
// Greedy by the win of each change, and then by exchange: each change in turn is taken out, and the best others are put in its place.
// Where no single change helps a node, sets of two are tried: one change makes room for another, or two pods change places. In a cluster of a
// few nodes the plan may also begin with the best set of up to three for one of them, found by a search with a bound.
// With n nodes that have an excess and c changes, that takes O((n + c)·k) solutions of a node, for the k changes that are tried for a
// node, and exchanges as many again for each change as long as they are few. A node is looked at again only when the change that was the
// best for it may be the best of all.
//
// # Empty nodes
//
// [Consolidate] answers another question by the same means: which nodes can be emptied with no pod dilated above a bound, and by which
// moves. The type packing says how they are found.
//
// The package has no access to a cluster or a clock.
package plan
