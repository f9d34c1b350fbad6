// Package kueue runs the example of docs/workloads.md with Kueue: its manager, from the
// module that hack/kueue pins, decides when a Job may start, and Loadline's scheduler
// where its pods go. Both run as processes beside a local control plane, with what
// Kueue's module says of resource definitions, webhooks and rights.
//
//	make test-kueue
package kueue
