// Package statuses holds what Loadline's controllers share in writing statuses: [Patch]
// writes one, [Status] also warns of conditions that turned bad, [Shared] does so where
// two controllers write to one status, and [All] does so for many objects at once.
// [Delayed] gathers many changes into one reconciliation, [ProfileChanged] passes over
// those that change no number, and [Labels] lists what selectors select.
package statuses
