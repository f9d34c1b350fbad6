package trace

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkReadPods reads the real rows over and over as one long trace and
// reports pods per second.
func BenchmarkReadPods(b *testing.B) {
	content := testdata(b, "openb_pod_list_first_2000.csv")
	end := bytes.IndexByte(content, '\n') + 1
	header, rows := content[:end], content[end:]
	repeated := repeat{rows: rows}
	in := io.MultiReader(bytes.NewReader(header), &repeated)
	b.ReportAllocs()
	var read int
	for _, err := range openbPods(in) {
		if err != nil {
			b.Fatal(err)
		}
		read++
		if !b.Loop() {
			break
		}
	}
	b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "pods/s")
}

// repeat reads the same rows without end.
type repeat struct {
	rows []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.rows[r.at:])
	r.at = (r.at + n) % len(r.rows)
	return n, nil
}
