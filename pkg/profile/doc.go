// Package profile turns pods and nodes into the numbers of the contention model: the
// WorkloadProfile that a pod follows, the NodeProfile that a node follows, and the vector of a pod
// that follows none.
//
// [Index] takes profiles from informers and gives a [Snapshot], an immutable view that is read
// without locks. [NewWorkload] and [NewNodeClass] turn one profile into numbers, or return its
// errors. The package reads profiles from a cluster ([Index.Watch]) and writes nothing.
//
// # Which profile
//
// Of the profiles whose selector matches, those that declare a vector or have it measured go before
// those that only follow the observations of gauges: the latter never take pods from a team's
// declaration. Then the one with the most requirements wins, since it is the most specific; among
// equals the oldest, so that a new profile never takes pods from one that works; among those of one
// age the first by name. Invalid profiles match nothing, and neither do the youngest of a set that
// would take more than [MaxCompared] comparisons of selectors for an object.
//
// # Which vector
//
// A loading vector belongs to a kind of hardware: on the nodes of a class a pod has
// the vector that was measured there, where its profile has it measured; else the
// one observed there, where its profile has that applied; else the declared one;
// else, where none is declared, the one measured, else observed, last on another
// class. Until there is any, pods have the vector of pods without a profile. A
// declared resource that was not measured counts beside the measured ones.
//
// A resource of a node has the servers that its profile declares, else those that
// were found by calibration, else one, and cpu one per allocatable core.
//
// # Which resources
//
// The resources of a cluster are cpu, disk, network, memory-bandwidth and llc,
// those that the rules for pods without a profile are about, and every name that
// a NodeProfile uses. A demand at any other resource is left out of account and
// reported, since it is more often a misspelling than a resource that no node is
// said to have.
//
// # Which device
//
// Pods that use the devices of a node are assigned to one of each kind, see
// [Resources.Assign]: what their annotation says, else the one with the fewest pods.
package profile
