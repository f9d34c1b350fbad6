// Package observed holds what gauges and findings say against what pods say of themselves: processes in control groups as
// the kubelet makes them, on the kernel of this machine, with weights and limits, which count what they run and when. Its
// tests are experiments: they take root and minutes, and a machine with nothing else to do, so they are skipped unless a
// flag asks for them. They report what they find.
//
//	go test ./test/observed -run SayTheSame -v -args -mixes 10 -mix-seconds 20
//	go test ./test/observed -run TheCulprit -v -args -culprits 40
package observed
