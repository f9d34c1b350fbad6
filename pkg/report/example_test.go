package report_test

import (
	"fmt"
	"os"

	"loadline.dev/loadline/pkg/report"
)

func ExampleTable() {
	t := report.NewTable(report.Left("JOB"), report.Right("NEUTRAL"), report.Right("DILATION"), report.Left("WAITS FOR"))
	t.Add("filecomp", report.Seconds(78.08, 1), report.Times(1.42), "disk 0.42 (std-io)")
	t.Add("std-io", report.Seconds(200, 1), report.Times(1.26), "disk 0.26 (filecomp)")
	if err := t.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// JOB        NEUTRAL   DILATION   WAITS FOR
	// filecomp     78.1s      1.42×   disk 0.42 (std-io)
	// std-io      200.0s      1.26×   disk 0.26 (filecomp)
}

func ExampleWriteChart() {
	chart := report.Distribution{
		Title:    "Dilation of 8 pods",
		Quantity: "dilation",
		Unit:     "×",
		Of:       "pods",
		Samples: []report.Sample{
			{Name: "kube-scheduler", Values: []float64{1.1, 1.4, 1.9, 2.6}},
			{Name: "Loadline", Values: []float64{1.05, 1.1, 1.2, 1.5}},
		},
	}
	fmt.Println(report.WriteChart("dilation.pdf", chart))
	// Output: dilation.pdf: cannot draw .pdf; a chart's file name must end in .svg or .png
}
