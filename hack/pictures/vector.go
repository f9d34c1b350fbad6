package main

import "fmt"

// rhythm is how a job that computes and reads by turns might go: the parts of its computing and of its reading in each
// turn. Any rhythm gives the same vector; this one is made up.
var rhythm = []struct{ computing, reading float64 }{
	{0.10, 0.06}, {0.05, 0.13}, {0.16, 0.10}, {0.08, 0.05}, {0.12, 0.17}, {0.19, 0.11}, {0.07, 0.15}, {0.13, 0.09}, {0.10, 0.14},
}

// drawVector draws the time line of filecomp, and the same time gathered by resource.
func drawVector() (*drawing, error) {
	d := newDrawing(216, "The time line of filecomp, and the same time gathered by resource")
	d.legend(24, 22, [2]string{"at the cpu", paleBlue}, [2]string{"at the disk", paleRed})
	const left, width = 24, 712
	d.text(left, 60, from, "alone on a node, as it goes", style{bold: true})
	x := float64(left)
	for _, turn := range rhythm {
		for i, part := range []float64{turn.computing * fileComp[0].Loading, turn.reading * fileComp[1].Loading} {
			d.rect(x, 70, width*part, 34, []string{paleBlue, paleRed}[i], paper)
			x += width * part
		}
	}
	d.text(left, 138, from, "the same time, gathered: the loading vector", style{bold: true})
	x = left
	for i, name := range []string{"cpu", "disk"} {
		part := fileComp[i].Loading
		d.rect(x, 148, width*part, 34, []string{paleBlue, paleRed}[i], paper)
		d.text(x+width*part/2, 170, around, fmt.Sprintf("%s %.2f", name, part), style{})
		x += width * part
	}
	d.text(left, 202, from, "0", style{size: 12, color: faint})
	d.text(left+width, 202, until, fmt.Sprintf("%.2f s, the neutral time", fileCompSeconds), style{size: 12, color: faint})
	return d, nil
}
