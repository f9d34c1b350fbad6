package reading

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkStalls polls containers and their pods once each, by the file that the kernel of this machine has for all tasks.
func BenchmarkStalls(b *testing.B) {
	const file = "/proc/pressure/cpu"
	if _, err := os.Stat(file); err != nil {
		b.Skipf("the kernel keeps no pressure stall information: %v", err)
	}
	for _, containers := range []int{1, 10, maxFollowed} {
		b.Run(fmt.Sprintf("containers=%d", containers), func(b *testing.B) {
			files, folder := map[string]bool{}, b.TempDir()
			for i := range 2 * containers {
				path := filepath.Join(folder, fmt.Sprint(i))
				if err := os.Symlink(file, path); err != nil {
					b.Fatal(err)
				}
				files[path] = i%2 == 0
			}
			s := NewStalls()
			s.follow(files)
			b.ReportAllocs()
			for b.Loop() {
				s.rounds = 1 // so that the next one polls all
				s.round()
			}
			for _, p := range s.followed {
				if p.failed != nil {
					b.Fatal(p.failed)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(files)), "ns/file")
		})
	}
}
