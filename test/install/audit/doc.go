// Package audit finds out whether some service accounts have the rights that they
// need, and no other. It reads what they asked of an API server, in the form of the
// audit log of Kubernetes (events of audit.k8s.io/v1, one per line, of level
// Metadata or more), and what their roles grant.
//
// A right is one verb on one resource of one API group. Informers of our days never
// list: they begin a watch with what there is (sendInitialEvents), and fall back on a
// list, and a watch, where an API server does not know that. Such a watch counts as
// both.
//
// It asks no cluster for anything: the caller gathers.
package audit
