// Package tracereplay is the controller that carries out TraceReplays on the cluster and gathers
// their results.
//
// It works in three steps. Gathering reads the replay and everything made for
// it; a pure function decides on a plan; acting writes the plan down. What the
// controller makes belongs to the TraceReplay and goes with it:
//
//   - a ConfigMap with the question: the replay and the profiles it needs, as
//     they were when the first run began;
//   - a Job per round, of which each index is one run, a policy with a seed.
//     Its pods see the question and the trace, and nothing of the API; each
//     leaves its result as its termination message;
//   - ConfigMaps with the results, which are copied there as soon as a pod is
//     done, so that no run is done twice when pods, nodes or the controller are
//     lost;
//   - a ConfigMap with the report. When all runs have ended it is the only one
//     that is left.
//
// A run whose pod ended well but whose result was lost is done again in another
// round; a run that failed is not.
package tracereplay
