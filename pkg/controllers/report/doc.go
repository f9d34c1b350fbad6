// Package report holds what Loadline's controllers share in telling users what
// happened: [Status] writes a status once and warns of what turned bad,
// [Delayed] gathers many changes into one reconciliation.
package report
