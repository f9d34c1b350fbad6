// Package report holds what Loadline's controllers share in telling users what
// happened: [Patch] writes a status once, [Status] also warns of what turned bad,
// [Shared] does so where two controllers write to one status, [All] does so for many
// objects at once, [Delayed] gathers
// many changes into one reconciliation.
package report
