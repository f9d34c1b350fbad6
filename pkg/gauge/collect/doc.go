// Package collect asks the gauges of a cluster, each at the address of its pod, for their observations since the last request,
// and hands them to a [Receiver] once: every interval of a gauge arrives there at most one time, in order.
//
// A [Collector] asks all gauges in rounds. A gauge that does not answer, answers slowly or gives an impossible answer is asked
// again later, after ever longer times, and keeps no other from being asked. A gauge runs on a node, and nodes may lie: a
// usage.Decoder reads their answers, bounds the memory for them and checks the rules; an answer must be about the node that the
// gauge runs on, and cannot cover more time than has passed. A [Round] lists the gauges whose last answer was refused, and why.
// The clocks of nodes do not matter: the end of an interval follows from the age that the gauge states, and from the collector's
// own clock.
//
// Gauges have certificates that they sign themselves, so the connection does not prove who answers. A token that is sent must
// therefore be good for gauges only, and addresses must be those of pods in a namespace where only gauges are made.
//
// The package is independent of the cluster: its caller passes the list of gauges, and a function that returns the token.
package collect
