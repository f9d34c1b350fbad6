package chart_test

import (
	"fmt"

	"loadline.dev/loadline/pkg/report/chart"
)

func ExampleWriteFile() {
	dilations := chart.Distribution{
		Title:    "Dilation of 8 pods",
		Quantity: "dilation",
		Unit:     "×",
		Of:       "pods",
		Samples: []chart.Sample{
			{Name: "kube-scheduler", Values: []float64{1.1, 1.4, 1.9, 2.6}},
			{Name: "Loadline", Values: []float64{1.05, 1.1, 1.2, 1.5}},
		},
	}
	fmt.Println(chart.WriteFile("dilation.pdf", dilations))
	// Output: dilation.pdf: cannot draw .pdf; a chart's file name must end in .svg or .png
}
