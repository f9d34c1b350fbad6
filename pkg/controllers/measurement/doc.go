// Package measurement is the controller that has the loading vectors of
// WorkloadProfiles measured on real nodes, as their spec.measurement asks.
//
// A measurement is of one class of nodes and takes place on one node of it. It
// goes in rounds, a round in steps, and a step is one or two kinds of Jobs at once:
//
//   - "alone" runs a copy of the target alone: the neutral time
//   - "beside-R" runs a standard job that keeps resource R busy, and a copy of the
//     target beside it for a part of that time. The standard job's slowdown is the
//     target's pressure, the target's slowdown its loading
//   - "baseline-R" and, without a target, "beside-R" run the standard job on a
//     quiet node and beside the pods that follow the profile
//   - "copies-2" and "copies-3" run two and three copies of the target at once
//
// A target that ends soon runs several times within a step, one run after the other, and
// its times are per run. Each step that is over leaves a sample in status.measuring, each
// round ends with an estimate, and the measurement ends with an entry in
// status.measurements when the estimate is precise enough, or when rounds or time are
// used up.
//
// The estimation is that of package experiment, on plain samples: the reports of a step's probe and
// observers are read into an experiment.Sample (reading.go), which the status holds as a
// v1alpha1.MeasurementSample (experiment.go converts, both ways), and an experiment.Result becomes
// a v1alpha1.MeasuredVector (result.go).
//
// The controller works in three steps: gathering ([input]) reads the profile, the nodes and their
// pods; the current [phase] of the measurement decides on a [plan], purely; acting carries it out.
// All state between plans is in the status and in the Jobs themselves, whose names follow from the
// status, so that a manager that restarts continues where another stopped. A plan either goes on to
// another step in the status or brings the Jobs in line with the current one, never both: it
// deletes the Jobs that the step does not need and applies those that it needs. The only thing kept
// in memory is the time to wait after a failure.
package measurement
