package planning

import "fmt"

const mebibyte = 1 << 20

// fits returns an error if a plan for some pods leaves a manager that may have so much memory, 0 for any, too little for garbage: it would be
// busy with collecting that until its container is ended.
//
// By heap profiles 247 MiB are live with 31,000 pods and 983 MiB with 155,000 (docs/evidence/scale.md): the pods as the plan has them, what is
// kept of them besides, what was observed, and what the scheduler's filters set up.
func fits(pods int, limit int64) error {
	const withoutPods, perPod = 60 * mebibyte, 6 << 10
	live := withoutPods + int64(pods)*perPod
	if limit == 0 || live <= limit/10*9 {
		return nil
	}
	const ownFile = 128 * mebibyte
	needed := live/2*3 + ownFile
	return fmt.Errorf("a plan for %d pods takes %d MiB of memory, and the manager may have %d: give its container a limit of %dMi",
		pods, live/mebibyte, limit/mebibyte, needed/mebibyte)
}
