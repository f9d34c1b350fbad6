// Package scheduling lists what decides about the pods of a cluster where they may run, whether they may be disrupted, and what they may
// request: what kube-scheduler's filters look at (package feasibility), and what packages disruption and admission do.
//
// It only reads. What may not be listed, a [Lister] says, and what it returns has it as not known, or as if there
// were none.
package scheduling
