package text_test

import (
	"fmt"
	"os"

	"loadline.dev/loadline/pkg/text"
)

func ExampleTable() {
	t := text.NewTable(text.Left("JOB"), text.Right("NEUTRAL"), text.Right("DILATION"), text.Left("WAITS FOR"))
	t.Add("filecomp", text.Seconds(78.08, 1), text.Times(1.42), "disk 0.42 (std-io)")
	t.Add("std-io", text.Seconds(200, 1), text.Times(1.26), "disk 0.26 (filecomp)")
	if err := t.Write(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// JOB        NEUTRAL   DILATION   WAITS FOR
	// filecomp     78.1s      1.42×   disk 0.42 (std-io)
	// std-io      200.0s      1.26×   disk 0.26 (filecomp)
}
