// Package planning proposes changes that win dilation for the pods of a cluster together, and says what changes have won that were made.
//
// The [Proposer] makes a joint plan every minute, of what gauges observed and of the pods that RemediationPolicies let be changed, and a
// Remediation of each step; it withdraws those that are no longer part of the plan and not started. The controller of package remediation
// carries them out, and asks the [Judge]. Neither changes a pod.
//
// Nothing is remembered: what was proposed is in the API, under names that follow from the changes, and what was observed in the history
// that the manager collects from the gauges, for an hour. After a restart the nodes are observed for a minute before anything is proposed
// for them, and what was observed before a change is gone: such a change ends unproven.
//
// Pods come from the manager's cache, which keeps what the scheduler's filters and the model look at: to list those of a large cluster takes an
// API server longer than there is between two plans. Nodes are read page by page past the caches, which hold too few of their fields.
package planning
