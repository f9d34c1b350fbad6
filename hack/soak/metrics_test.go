package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsSampledOfMetrics(t *testing.T) {
	t.Parallel()
	got, err := readMetrics([]byte(`# TYPE go_goroutines gauge
go_goroutines 42
# TYPE go_gc_heap_live_bytes gauge
go_gc_heap_live_bytes 1e+06
# TYPE workqueue_depth gauge
workqueue_depth{name="a"} 2
workqueue_depth{name="b"} 3
# TYPE loadline_x histogram
loadline_x_bucket{le="1"} 1
loadline_x_bucket{le="+Inf"} 2
loadline_x_sum 3
loadline_x_count 2
# TYPE go_gc_duration_seconds summary
go_gc_duration_seconds{quantile="0.5"} 1
go_gc_duration_seconds_sum 1
go_gc_duration_seconds_count 1
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"goroutines": 42, "heap that was live at the last collection": 1e6, "work queues": 5, "series": 11, "series of Loadline": 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := readMetrics([]byte("go_goroutines{")); err == nil {
		t.Error("a line that is cut off is taken")
	}
}

func TestTheSizeOfTheDatabaseIsRead(t *testing.T) {
	t.Parallel()
	const text = "apiserver_storage_objects{resource=\"pods\"} 3\napiserver_storage_size_bytes{storage_cluster_id=\"etcd-0\"} 4.5e+06\n"
	if got := storageSize([]byte(text)); got != 4.5e6 {
		t.Errorf("%g, want 4.5e6", got)
	}
	if got := storageSize(nil); got != 0 {
		t.Errorf("%g of nothing", got)
	}
}
