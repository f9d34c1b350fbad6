package arrivals_test

import (
	"testing"

	"loadline.dev/loadline/pkg/model/arrivals"
)

// BenchmarkGap draws gaps of each family.
func BenchmarkGap(b *testing.B) {
	for _, f := range families() {
		b.Run(f.name, func(b *testing.B) {
			process, err := f.open(arrivals.Source(1, arrivals.Gaps))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				process()
			}
		})
	}
}
