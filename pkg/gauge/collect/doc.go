// Package collect asks the gauges of a cluster, each at the address of its pod, for what they observed since they were asked
// last, and hands it to a [Receiver] once: every interval of a gauge arrives there at most one time, in order.
//
// A [Collector] asks all gauges in rounds. A gauge that does not answer, answers slowly or answers what cannot be is asked
// again later, after ever longer times, and keeps no other from being asked. A gauge runs on a node, and nodes may lie: what
// they answer is read by a usage.Decoder, which bounds the memory that it takes and checks the rules, must be about the node that
// the gauge runs on, and cannot cover more time than has passed. A [Round] says of which gauges the last answer was refused, and
// why. The clocks of nodes do not matter: when an interval ended follows from how old the gauge says it is, and from the
// collector's own clock.
//
// Gauges have certificates that they sign themselves, so the connection does not prove who answers. A token that is sent must
// therefore be good for gauges only, and addresses must be those of pods in a namespace where only gauges are made.
//
// The package knows no cluster: it is handed the list of gauges, and a function that returns the token.
package collect
