// Package savings says how much contention there is in a cluster, and how much of it
// placing pods by dilation would save there, so that users can see whether Loadline
// pays for them.
//
// How much there is, is the mean excess dilation of the pods, λ − 1, by the model and
// the profiles of the cluster. How much of it would be saved is taken from a map: how
// much excess dilation pods had on clusters that were drawn and simulated, where
// kube-scheduler's rule had placed them, and where Loadline's had. A [Point] says where
// on the map a cluster is: how loaded it is, how many pods there are for each core, and
// how unlike they are. The map, map.csv, is made by hack/savingsmap.
package savings
