package reading_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/reading"
)

// crowd writes a pod whose container lists tasks from a first id on, with only some of them present.
func (n node) crowd(uid string, first, tasks int, there ...int) {
	var list strings.Builder
	for i := range tasks {
		fmt.Fprintln(&list, first+i)
	}
	n.write("cgroup/kubepods/pod"+uid+"/c/cgroup.threads", list.String())
	for _, i := range there {
		n.task(first+i, "1 2 3")
	}
}

// tasks returns the ids of the tasks of each pod.
func tasks(r *reading.Reading) map[string][]int {
	all := map[string][]int{}
	for i := range r.Pods {
		for _, group := range r.Pods[i].Groups {
			for k := range group.Tasks {
				all[r.Pods[i].UID] = append(all[r.Pods[i].UID], group.Tasks[k].ID)
			}
		}
	}
	return all
}

// empty returns a node of control groups of version 2.
func empty(t *testing.T) node {
	t.Helper()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	return n
}

func TestOfAPodWithAHundredThousandTasksFourThousandAreRead(t *testing.T) {
	t.Parallel()
	n := empty(t)
	n.crowd("crowd", 100_000, 100_000, 0, 4095, 4096, 99_999)
	n.crowd("small", 1, 3, 0, 1, 2)
	want := map[string][]int{"crowd": {100_000, 104_095}, "small": {1, 2, 3}}
	if diff := cmp.Diff(want, tasks(read(t, n))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPodsWithManyTasksTakeNoneFromThoseWithFew(t *testing.T) {
	t.Parallel()
	n := empty(t)
	n.crowd("pod-0", 1, 3, 0, 1, 2)
	n.crowd("pod-9", 11, 3, 0, 1, 2)
	const level = (16_384 - 2*3) / 8 // each other pod's share of the reading
	for i := 1; i < 9; i++ {
		n.crowd(fmt.Sprintf("pod-%d", i), 10_000*i, 5000, 0, level-1, level)
	}
	r := n.reader()
	for range 2 {
		got, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		for uid, first := range map[string]int{"pod-0": 1, "pod-9": 11} {
			if diff := cmp.Diff([]int{first, first + 1, first + 2}, tasks(got)[uid]); diff != "" {
				t.Errorf("of %s (-want +got):\n%s", uid, diff)
			}
		}
	}
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 9; i++ {
		if diff := cmp.Diff([]int{10_000 * i, 10_000*i + level - 1}, tasks(got)[fmt.Sprintf("pod-%d", i)]); diff != "" {
			t.Errorf("of pod-%d (-want +got):\n%s", i, diff)
		}
	}
}

// A container that may write to its control groups makes any number of them, with any names.
func TestOfAPodWithManyControlGroupsAThousandAreRead(t *testing.T) {
	t.Parallel()
	n := empty(t)
	n.crowd("small", 1, 3, 0, 1, 2)
	for i := range 1500 {
		n.write(fmt.Sprintf("cgroup/kubepods/podcrowd/c/%d/cgroup.threads", i), fmt.Sprintln(10_000+i))
		n.task(10_000+i, "1 2 3")
	}
	got := tasks(read(t, n))
	if n := len(got["crowd"]); n != 1023 { // besides that of the container
		t.Errorf("%d control groups are read", n)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, got["small"]); diff != "" {
		t.Errorf("of another pod (-want +got):\n%s", diff)
	}
}

func TestADirectoryWhoseNameIsNoIDIsNoContainer(t *testing.T) {
	t.Parallel()
	n := empty(t)
	for i, name := range []string{"\x1b[2J", strings.Repeat("c", 129), "ä", "c"} {
		n.write("cgroup/kubepods/podmine/"+name+"/cgroup.threads", fmt.Sprintln(1+i))
		n.task(1+i, "1 2 3")
	}
	groups := read(t, n).Pods[0].Groups
	var ids []string
	for i := range groups {
		ids = append(ids, groups[i].ID)
	}
	if diff := cmp.Diff([]string{"", "c"}, ids); diff != "" || len(groups[0].Tasks) != 3 {
		t.Errorf("%v (-want +got):\n%s", groups, diff)
	}
}
