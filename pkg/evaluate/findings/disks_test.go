package findings_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// reading is a pod as it was seen that was blocked for a part of its time without waiting for a processor, by reads at the disk vda.
func reading(p usage.Pod, blocked float64, operations int64) usage.Pod {
	p.DiskLoading, p.Blocked = blocked, blocked*p.Seconds/p.Dilation
	p.Disks = []usage.PodDisk{{Name: "vda", ReadOperations: operations, ReadBytes: 4096 * operations}}
	return p
}

// atDisk adds the disk vda to what a gauge saw, of which a read takes a millisecond, and where all that pods read took four.
func atDisk(s observed.Sight) observed.Sight {
	for i := range s.Intervals {
		v := &s.Intervals[i]
		d := usage.Disk{Name: "vda", Number: "254:0", Service: []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 1e-3, Intervals: 9}}}
		for k := range v.Pods {
			for _, of := range v.Pods[k].Disks {
				d.Reads.Operations += of.ReadOperations
				d.Reads.Bytes += of.ReadBytes
			}
		}
		d.Reads.Seconds = 4e-3 * float64(d.Reads.Operations)
		d.QueuedSeconds, d.BusySeconds = d.Reads.Seconds, v.Seconds
		v.Disks = []usage.Disk{d}
	}
	return s
}

// backups is a cart that reads beside a backup with three times as many reads, each of which takes as long.
func backups(cart usage.Pod) *observed.Input {
	backup := reading(seen("backup", 0.01, 0, 0), 0.99, 7500)
	backup.Threads = 3
	backup.Blocked *= 3
	return &observed.Input{
		Nodes:  []corev1.Node{nodeNamed("worker-1", "2"), nodeNamed("worker-2", "2")},
		Pods:   []corev1.Pod{pod("cart", "worker-1", "100m", ""), pod("backup", "worker-1", "100m", "")},
		Sights: []observed.Sight{atDisk(sight("worker-1", 2, 0, cart, backup)), sight("worker-2", 2, 0)},
	}
}

func TestACulpritAtADiskIsNamedWithAdvice(t *testing.T) {
	t.Parallel()
	answer := of(t, backups(reading(seen("cart", 0.02, 0, 0), 0.98, 2450)))
	f := &answer.Findings[0]
	if f.Pod.Pod != "shop/cart" || f.Resource != observed.Disk {
		t.Fatalf("the worst: %+v", f)
	}
	if len(f.Causes) != 1 {
		t.Fatalf("causes: %+v", f.Causes)
	}
	want := observed.Cause{Kind: observed.ByNeighbour, Resource: observed.Disk, Device: "vda", Pod: "shop/backup", Workload: "Deployment shop/backup", Dilation: f.Dilation - 1}
	if diff := cmp.Diff(want, f.Causes[0], closeTo(1e-9)); diff != "" {
		t.Errorf("cause (-want +got):\n%s", diff)
	}
	near(t, "dilation", f.Dilation, 3.8, 0.1) // 2.45 s of 9.8 s are its reads, and the rest is those of the other
	if diff := cmp.Diff(findings.Remedy{Action: findings.Leave, Dilation: f.Dilation, ByHand: &findings.ByHand{Device: "vda", Pod: "shop/backup"}}, f.Remedy); diff != "" {
		t.Errorf("remedy (-want +got):\n%s", diff)
	}
	near(t, "part of the time alone at the CPU", f.CPULoading, 0.02*f.Dilation, 1e-9)
	if len(answer.Plan.Steps) > 0 {
		t.Errorf("a plan has steps: %+v", answer.Plan.Steps)
	}
	near(t, "excess that the plan leaves", answer.Plan.Left, answer.Plan.Excess, 1e-9)
}

// A suggested profile says of the disk what it serves the pods, without their waiting there, where that is known.
func TestASuggestedProfileHasTheDisk(t *testing.T) {
	t.Parallel()
	demands := func(in *observed.Input) map[string]map[string]string {
		for i := range in.Pods {
			in.Pods[i].Labels = map[string]string{"app": in.Pods[i].Name, "pod-template-hash": in.Pods[i].Labels["pod-template-hash"]}
		}
		answer, all := of(t, in), map[string]map[string]string{}
		for _, s := range answer.Suggest(in.Pods, nil) {
			of := map[string]string{"from": "unknown"}
			if s.Disk != nil {
				of["from"] = fmt.Sprintf("%.3f to %.3f", s.Disk.Lowest, s.Disk.Highest)
			}
			for _, d := range s.Profile.Spec.Resources {
				of[d.Name] = d.Loading.String()
				if d.Threads != nil {
					of[d.Name] += fmt.Sprintf(" of %d threads", *d.Threads)
				}
			}
			all[s.Workload] = of
		}
		return all
	}
	// Of 10 s the cart computes for 0.2 s, reads for 2.45 s and waits for 7.35 s; of each thread of the backup 2.5 s are its reads.
	busy := reading(seen("cart", 0.02, 0, 0), 0.98, 2450)
	want := map[string]map[string]string{
		"Deployment shop/backup": {"cpu": "40m of 3 threads", "disk": "960m of 3 threads", "from": "0.962 to 0.962"},
		"Deployment shop/cart":   {"cpu": "80m", "disk": "920m", "from": "0.925 to 0.925"},
	}
	if diff := cmp.Diff(want, demands(backups(busy))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	want["Deployment shop/cart"] = map[string]string{"cpu": "500m", "from": "0.000 to 0.000"}
	want["Deployment shop/backup"] = map[string]string{"cpu": "10m of 3 threads", "disk": "250m of 3 threads", "from": "0.253 to 0.253"}
	if diff := cmp.Diff(want["Deployment shop/cart"], demands(backups(seen("cart", 0.5, 0, 0)))["Deployment shop/cart"]); diff != "" {
		t.Errorf("of a pod that does nothing at disks (-want +got):\n%s", diff)
	}
	unlearned := backups(busy)
	for i := range unlearned.Sights[0].Intervals {
		unlearned.Sights[0].Intervals[i].Disks[0].Service = nil
	}
	if diff := cmp.Diff(map[string]string{"cpu": "20m", "from": "unknown"}, demands(unlearned)["Deployment shop/cart"]); diff != "" {
		t.Errorf("at a disk that is not learned (-want +got):\n%s", diff)
	}
}

// closeTo compares numbers within a tolerance.
func closeTo(within float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return a-b <= within && b-a <= within })
}

// A pod that waits for a processor behind one pod, and at the disk behind another.
func TestAPlanForProcessorsPromisesNothingAtDisks(t *testing.T) {
	t.Parallel()
	in := backups(reading(seen("cart", 0.5, 0.6, 0), 0.5, 1000))
	in.Nodes[0] = nodeNamed("worker-1", "1")
	in.Pods = append(in.Pods, pod("sort", "worker-1", "500m", ""))
	in.Sights[0].Intervals = atDisk(sight("worker-1", 1, 0, append(in.Sights[0].Intervals[0].Pods, seen("sort", 1, 0.15, 0))...)).Intervals
	answer := of(t, in)
	for i := range answer.Findings {
		f := &answer.Findings[i]
		if f.Pod.Pod != "shop/cart" {
			continue
		}
		atDisks := observed.Causes(f.Causes).At(observed.Disk).Sum(observed.ByNeighbour)
		if atDisks < 0.3 || f.Resource != string(corev1.ResourceCPU) || f.Remedy.Action == findings.Leave {
			t.Fatalf("%+v", f)
		}
		// On the other node, or without the other pod, it waits for next to no processor.
		near(t, "dilation with the plan", f.Remedy.Dilation, 1+atDisks, 0.1)
		const rounding = 1e-9
		if f.Remedy.Dilation < 1+atDisks-rounding {
			t.Errorf("the plan promises %v, and at the disk it waits for %v", f.Remedy.Dilation, atDisks)
		}
		return
	}
	t.Fatalf("%+v", answer.Findings)
}

func TestAdviceNamesNoPodThatAReaderMayNotSee(t *testing.T) {
	t.Parallel()
	in := backups(reading(seen("cart", 0.02, 0, 0), 0.98, 2450))
	in.Pods[1].Namespace = "other"
	answer := of(t, in).VisibleTo(ofShop{})
	if diff := cmp.Diff(&findings.ByHand{Device: "vda", Pod: findings.HiddenPod}, answer.Findings[0].Remedy.ByHand); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if c := answer.Findings[0].Causes[0]; c.Pod != findings.HiddenPod || c.Workload != "" {
		t.Errorf("%+v", c)
	}
}

// ofShop may list the pods of one namespace.
type ofShop struct{}

func (ofShop) Pods(namespace string) bool { return namespace == "shop" }
func (ofShop) Nodes() bool                { return false }

// Pods of a workload that wait for the same one at disks of different names have one cause, of no name.
func TestDisksOfAWorkloadAreTakenTogether(t *testing.T) {
	t.Parallel()
	at := func(name, device string) findings.Finding {
		return findings.Finding{Pod: findings.Pod{Pod: "shop/" + name, Workload: "Deployment shop/cart", Dilation: 2, Causes: []observed.Cause{
			{Kind: observed.ByNeighbour, Resource: observed.Disk, Device: device, Pod: "shop/backup-" + name, Workload: "Deployment shop/backup", Dilation: 0.6},
			{Kind: observed.ByNeighbour, Pod: "shop/backup-" + name, Workload: "Deployment shop/backup", Dilation: 0.4},
		}}}
	}
	answer := &findings.Answer{Findings: []findings.Finding{at("a", "vda"), at("b", "nvme0n1")}}
	want := []observed.Cause{
		{Kind: observed.ByNeighbour, Resource: observed.Disk, Workload: "Deployment shop/backup", Dilation: 0.6},
		{Kind: observed.ByNeighbour, Workload: "Deployment shop/backup", Dilation: 0.4},
	}
	if diff := cmp.Diff(want, answer.ByWorkload()[0].Causes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
