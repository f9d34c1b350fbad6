// Package feasibility says on which nodes kube-scheduler would let a pod run, and in its words why not on the others. It runs the
// filter plugins of kube-scheduler's default profile, of the version that is in go.mod, on a snapshot of a cluster: objects that
// were listed, or read from files. It imitates none of them.
//
// Two things it adds. A static pod, and a pod of a DaemonSet, stays on its node: no scheduler would be asked. And what the
// filters would need to know and the snapshot does not have, such as the PersistentVolume of a claim, makes a node neither one
// that fits nor one that is refused: the answer says that it is not known, and why.
//
// [Filter.With] has the answers after changes: once pods run elsewhere, request something else, or are gone. The plugins read the
// cluster through a lister that shows the nodes with these changes, so they follow all rules as on a cluster that was listed so. A
// question costs what it does on a snapshot, and a little for each change. That is much for a pod that is kept apart from others or
// spread: the plugins look at all pods then.
//
// It does not ask the profile of a scheduler's own configuration, extenders, and the plugin DynamicResources: of pods with
// ResourceClaims the answer is not known, unless something else refuses them. It does not say whether preemption would make
// room.
package feasibility
