// Package result holds what the probes say about a node and its workloads, as a
// container says it: a JSON object of at most [Limit] bytes in its termination
// message.
//
//   - [Run] is a standard job that ran: how fast, moment by moment
//   - [Watch] is what an observer saw of the other containers of its pod
//   - [Calibration] is how many requests a resource of the node serves at once
//   - [PressureCalibration] is how hard a standard job presses on another, level by level
//   - [Load] is a synthetic job of a known loading vector that ran
//
// Times are nanoseconds of the node's CLOCK_BOOTTIME, which all its containers
// share and which is never set. Reports with different boot ids are of different
// boots: their times say nothing about each other.
//
// A program writes a report with [Encode], a controller reads it with [ParseRun]
// and its like. The package imports the standard library only.
package result
