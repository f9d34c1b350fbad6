// Package statuses holds the code that Loadline's controllers share for writing statuses: [Write]
// writes one and emits events about it, [WriteShared] does so where two controllers write to one
// status, and [All] does so for many objects at once, with [Warnings] of conditions that turned
// bad. [Conditions] and [Turned] find the subjects of events. [Delayed] gathers many changes into
// one reconciliation, [ProfileChanged] passes over those that change no number, and [Labels] lists
// the labels that selectors select.
package statuses
