// Package scheduling lists what decides about the pods of a cluster where they may run, and whether they may be disrupted: what
// kube-scheduler's filters look at (package feasibility), and what package disruption does.
//
// It only reads. What may not be listed, a [Lister] says, and what it returns has it as not known, or as if there
// were none.
package scheduling
