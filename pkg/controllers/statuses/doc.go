// Package statuses holds what Loadline's controllers share in writing statuses: [Write]
// writes one and emits events about it, [WriteShared] does so where two controllers write
// to one status, and [All] does so for many objects at once, with [Warnings] of conditions
// that turned bad. [Conditions] and [Turned] find what events are about.
// [Delayed] gathers many changes into one reconciliation, [ProfileChanged] passes over
// those that change no number, and [Labels] lists what selectors select.
package statuses
