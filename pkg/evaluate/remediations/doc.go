// Package remediations says what RemediationPolicies allow: which policy a pod belongs to,
// whether a change of it may be started now, within budgets and cool-downs, and what a
// policy has come to. It looks at Remediations only through what is stored of them, and
// changes nothing.
package remediations
