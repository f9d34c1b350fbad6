package linuxsched_test

import (
	"testing"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

func TestTry(t *testing.T) {
	for _, k := range []linuxsched.Kernel{linuxsched.Linux6_1(), linuxsched.Linux6_12(), linuxsched.Linux6_18()} {
		for _, n := range []int{1, 2, 4, 16} {
			m := linuxsched.Machine{Kernel: k, CPUs: n}
			var pods []linuxsched.Pod
			for i := range 6 * n {
				p := linuxsched.Pod{Group: linuxsched.Group{Weight: 10 + 30*(i%3)}}
				if i%4 == 3 {
					p.Quota = 20 * time.Millisecond
				}
				p.Threads = append(p.Threads, linuxsched.Bursts(5*time.Millisecond, 0.15+0.7*float64(i%6)/30, linuxsched.Exponential, uint64(i)))
				pods = append(pods, p)
			}
			start := time.Now()
			r, err := m.Run(pods, time.Second, 20*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var sum linuxsched.Usage
			for _, u := range r.Pods {
				sum.Run += u.Run
				sum.WaitOwn += u.WaitOwn
				sum.WaitOther += u.WaitOther
				sum.Throttled += u.Throttled
				sum.Sleep += u.Sleep
				sum.Elapsed += u.Elapsed
				sum.Own += u.Own
			}
			t.Log(n, r.Events, time.Since(start), sum, sum.Run+sum.WaitOwn+sum.WaitOther+sum.Throttled+sum.Sleep-sum.Elapsed)
			for i := range min(6, len(r.Pods)) {
				t.Logf("%+v %.3f", r.Pods[i], r.Pods[i].Stretch())
			}
		}
	}
}
