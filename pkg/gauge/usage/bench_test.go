package usage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// answer is the answer of a gauge with some pods and intervals.
func answer(b *testing.B, pods, intervals int) string {
	b.Helper()
	r := usage.Report{AgeSeconds: 1.234}
	for range intervals {
		v := interval()
		v.Pods = nil
		for k := range pods {
			p := interval().Pods[0]
			p.UID = fmt.Sprintf("%08d-0000-4000-8000-000000000000", k)
			p.Namespace, p.Name = "shop", "cart-5d8b6c7f9-"+p.UID[:8]
			p.Run, p.Wait, p.Dilation, p.CPULoading = 3.141592653589793, 0.123456789, 1.0432198765, 0.271828182845
			p.Containers[0].ID = strings.Repeat("0123456789abcdef", 4)
			v.Pods = append(v.Pods, p)
		}
		r.Intervals = append(r.Intervals, v)
	}
	return inJSON(b, r)
}

// BenchmarkDecoder reads honest answers, by the decoder and by package json, which bounds nothing.
func BenchmarkDecoder(b *testing.B) {
	for _, size := range []struct{ pods, intervals int }{{30, 3}, {110, 4}, {250, 30}} {
		text := answer(b, size.pods, size.intervals)
		for by, read := range map[string]func() (*usage.Report, error){
			"decoder": func() (*usage.Report, error) { return read(text) },
			"json": func() (*usage.Report, error) {
				r := &usage.Report{}
				if err := json.NewDecoder(strings.NewReader(text)).Decode(r); err != nil {
					return nil, err
				}
				return r, r.Validate()
			},
		} {
			b.Run(fmt.Sprintf("pods=%d,intervals=%d/%s", size.pods, size.intervals, by), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
