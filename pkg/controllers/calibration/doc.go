// Package calibration is the controller that has the servers of NodeProfiles
// measured: for each resource that a profile's calibration lists it runs a standard
// job on a quiet node of the class, one resource after the other, and writes to the
// status how many requests the resource serves at once.
//
// It works in three steps. Gathering reads the profile, the Jobs made for it and, where something is to
// begin, a node to begin on; the current [phase] of the calibration decides on a [plan], purely; acting
// writes the plan down: first the status, which names the calibration in progress and its node, then the
// Job. So a controller that restarts continues where the last one was.
//
// Results answer a question: which standard job, to which peer, up to how many
// servers. One that is too old or answers another question is renewed, and stays in
// use meanwhile. One that no calibration asks for goes, with its calibration.
//
// A run that is lost, with its node or its pod, is begun again, on another node
// where there is one, three times at most. One that fails would fail again: it is
// tried again only after a while, or when the calibration is changed. How long is
// kept in memory: a controller that is started anew tries at once.
package calibration
