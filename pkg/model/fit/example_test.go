package fit_test

import (
	"fmt"
	"math"
	"strings"

	"loadline.dev/loadline/pkg/model/fit"
)

func Example() {
	runs, _, err := fit.Read(strings.NewReader(`run,job,dilation
1,filecomp,1.58
1,std-cpu,1.58
2,filecomp,1.42
2,std-io,1.42
3,filecomp,
3,grep,1.5
4,grep,1.5
4,std-cpu,1.5
5,grep,1.5
5,std-io,1.5
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	// The standard jobs are probes: each does nothing but use one resource.
	result, err := fit.Fit(runs, fit.Options{
		Resources: []string{"cpu", "io"},
		Fractions: true,
		Beliefs: map[string]fit.Belief{
			"std-cpu": {Sensitivity: []float64{1, 0}, Weight: math.Inf(1)},
			"std-io":  {Sensitivity: []float64{0, 1}, Weight: math.Inf(1)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range result.Jobs[:2] {
		fmt.Printf("%s: cpu %.2f, io %.2f\n", job.Name, job.Sensitivity[0].Value, job.Sensitivity[1].Value)
	}
	dilations, err := result.Predict("filecomp", "grep", "grep")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("beside two greps filecomp takes %.1f times as long\n", dilations[0].Value)
	// Output:
	// filecomp: cpu 0.58, io 0.42
	// grep: cpu 0.50, io 0.50
	// beside two greps filecomp takes 2.0 times as long
}
