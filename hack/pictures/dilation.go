package main

import "fmt"

// drawDilation draws how long filecomp takes alone, and beside std-io.
func drawDilation() (*drawing, error) {
	dilations, err := exactly(single, fileComp, stdIO)
	if err != nil {
		return nil, err
	}
	d := newDrawing(216, "filecomp alone, and beside std-io, where it waits for the disk")
	d.legend(24, 22, [2]string{"at the cpu", paleBlue}, [2]string{"at the disk", paleRed}, [2]string{"waiting for the disk", waiting(red)})
	const left, second, high = 24, 5.6, 34
	computing, reading := fileComp[0].Loading*fileCompSeconds, fileComp[1].Loading*fileCompSeconds
	for i, run := range []struct {
		title   string
		waiting float64
	}{
		{fmt.Sprintf("filecomp alone: %.1f s", fileCompSeconds), 0},
		{fmt.Sprintf("filecomp beside std-io: %.1f s, dilated by %.2f", dilations[0]*fileCompSeconds, dilations[0]), (dilations[0] - 1) * fileCompSeconds},
	} {
		y := 56 + 68*float64(i)
		d.text(left, y, from, run.title, style{bold: true})
		x := float64(left)
		for _, part := range []struct {
			seconds float64
			fill    string
		}{{computing, paleBlue}, {reading, paleRed}, {run.waiting, waiting(red)}} {
			if part.seconds == 0 {
				continue
			}
			d.rect(x, y+10, second*part.seconds, high, part.fill, faint)
			label := fmt.Sprintf("%.1f s", part.seconds)
			middle := x + second*part.seconds/2
			if part.fill == waiting(red) { // on a clean ground
				d.rect(middle-26, y+10+high/2-9, 52, 18, paper, "none")
			}
			d.text(middle, y+10+high/2+4.5, around, label, style{})
			x += second * part.seconds
		}
	}
	for seconds := 0; seconds <= 120; seconds += 20 {
		x := left + second*float64(seconds)
		d.line(x, 172, x, 178, faint, "")
		d.text(x, 194, around, fmt.Sprintf("%d s", seconds), style{size: 12, color: faint})
	}
	return d, nil
}
