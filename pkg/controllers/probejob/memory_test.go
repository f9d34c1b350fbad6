package probejob_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

func TestAMemoryIsOfOneProfileAndNotOfItsName(t *testing.T) {
	t.Parallel()
	var memory probejob.Memory[int]
	first := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "1"}}
	second := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "2"}}
	if _, ok := memory.Recall(first); ok {
		t.Error("an empty memory holds something")
	}
	memory.Keep(first, 7)
	if got, ok := memory.Recall(first); !ok || got != 7 {
		t.Errorf("it recalls %d, %v", got, ok)
	}
	if got, ok := memory.Recall(second); ok || got != 0 {
		t.Errorf("of another profile of the same name it recalls %d, %v", got, ok)
	}
	memory.Forget(client.ObjectKeyFromObject(first))
	if _, ok := memory.Recall(first); ok {
		t.Error("it recalls what it forgot")
	}
}

func TestAFailureHoldsForItsQuestionAndItsTime(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	failure := probejob.Failure{Question: "q", Until: at}
	for _, test := range []struct {
		question string
		now      time.Time
		want     bool
	}{{"q", at.Add(-time.Second), true}, {"q", at, false}, {"other", at.Add(-time.Second), false}} {
		if got := failure.Holds(test.question, test.now); got != test.want {
			t.Errorf("it holds for %s at %v: %v", test.question, test.now, got)
		}
	}
}

func TestAllHaveTheirTurn(t *testing.T) {
	t.Parallel()
	for turn, want := range [][]string{{"a", "b", "c", "d", "e"}, {"c", "d", "e", "a", "b"}, {"e", "a", "b", "c", "d"}} {
		got := probejob.InTurn([]string{"a", "b", "c", "d", "e"}, 2, time.Unix(int64(60*turn), 0), time.Minute)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("turn %d (-want +got):\n%s", turn, diff)
		}
	}
	if got := probejob.InTurn[string](nil, 2, time.Unix(60, 0), time.Minute); len(got) != 0 {
		t.Errorf("of nothing there is %v", got)
	}
}
