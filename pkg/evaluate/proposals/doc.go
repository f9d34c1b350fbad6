// Package proposals makes Remediations of the steps of a joint plan: which pods RemediationPolicies let be changed now, which proposals of
// earlier a plan begins with, which are made and withdrawn once there is a plan, what earlier changes won of what was predicted, and which
// pods pay more for a change than was predicted.
//
// A change that is proposed again has the same name, so that it is there once, also where two managers propose it.
//
// The package has no access to a cluster or a clock.
package proposals
