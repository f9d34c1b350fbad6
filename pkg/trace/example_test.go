package trace_test

import (
	"bytes"
	"fmt"
	"os"

	"loadline.dev/loadline/pkg/trace"
)

func ExampleOpenbPods() {
	content, err := os.ReadFile("../../test/testdata/openb/openb_pod_list_first_2000.csv")
	if err != nil {
		fmt.Println(err)
		return
	}

	var pods, pending int
	for pod, err := range trace.OpenbPods("openb_pod_list.csv", bytes.NewReader(content), trace.OpenbPodOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		pods++
		if !pod.Scheduled.Happened {
			pending++
		}
	}
	fmt.Printf("%d pods, %d never scheduled\n", pods, pending)
	// Output: 2000 pods, 158 never scheduled
}
