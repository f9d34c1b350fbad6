// Package slots shares scarce places among namespaces: nodes to measure on, which one measurement
// at a time can use, and replays, of which a cluster carries out a few at once.
//
//   - [Slots] gives owners their places, one owner at a time each and a limited number in
//     all, and says who has or just had which
//   - the namespace that has the fewest places goes first, then the one that was given one
//     the longest ago (turns.go)
//   - [Pace] spaces the looks at what waits, so that a namespace in which thousands wait
//     takes no more time than one in which fifty do
//
// The state follows from recent requests. Only held places survive a restart; controllers restore
// them by [Slots.Restore] from the status of their objects.
package slots
