package probejob_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

func TestAJobWithoutAManagerEndsSoonAndGoes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deadline time.Duration
		want     int64
	}{
		"a long one":            {24 * time.Hour, 120},
		"a short one":           {90 * time.Second, 90},
		"one of broken seconds": {90*time.Second + 500*time.Millisecond, 90},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := placed()
			p.Deadline = test.deadline
			j := probejob.New(p, corev1.PodTemplateSpec{})
			if got := *j.Spec.ActiveDeadlineSeconds; got != test.want {
				t.Errorf("it may run for %d s, want %d", got, test.want)
			}
			if got := *j.Spec.TTLSecondsAfterFinished; got != 120 {
				t.Errorf("it stays for %d s, want 120", got)
			}
		})
	}
}

func TestAJobThatIsAttendedToRunsUpToItsDeadline(t *testing.T) {
	t.Parallel()
	attendedAt := func(elapsed, began time.Duration, j *batchv1.Job) int64 {
		at := time.Time{}
		if began >= 0 {
			at = noon.Add(began)
		}
		c := fake.NewClientBuilder().WithObjects(j).Build()
		if err := probejob.Attend(t.Context(), c, j, at, noon.Add(elapsed), "test"); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(j), j); err != nil {
			t.Fatal(err)
		}
		return *j.Spec.ActiveDeadlineSeconds
	}
	begun := func(change func(*batchv1.Job)) *batchv1.Job {
		j := unattended()
		j.Status.StartTime = &noon
		change(j)
		return j
	}
	as := func(*batchv1.Job) {}
	until := func(seconds int64) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = &seconds }
	}
	for name, test := range map[string]struct {
		elapsed time.Duration
		job     *batchv1.Job
		want    int64
		began   time.Duration // after the Job, negative for a pod that has not
	}{
		"that has just begun":                        {time.Second, begun(as), 120, 0},
		"with more than half of the time left":       {60 * time.Second, begun(as), 120, 0},
		"with less than half of the time left":       {61 * time.Second, begun(as), 181, 0},
		"that was attended to before":                {200 * time.Second, begun(until(240)), 320, 0},
		"near its deadline":                          {500 * time.Second, begun(until(520)), 600, 0},
		"whose pod began late":                       {650 * time.Second, begun(until(660)), 700, 100 * time.Second},
		"whose pod has not begun":                    {650 * time.Second, begun(until(700)), 770, -1},
		"at its deadline":                            {600 * time.Second, begun(until(600)), 600, 0},
		"when the manager is back in time":           {130 * time.Second, begun(as), 250, 0},
		"that has not begun":                         {time.Hour, unattended(), 120, 0},
		"that has ended":                             {time.Hour, begun(func(j *batchv1.Job) { j.Status.Conditions = []batchv1.JobCondition{complete()} }), 120, 0},
		"that was given up":                          {time.Hour, begun(func(j *batchv1.Job) { j.Status.Conditions = []batchv1.JobCondition{failed("DeadlineExceeded")} }), 120, 0},
		"of a manager before there was the deadline": {61 * time.Second, begun(func(j *batchv1.Job) { j.Annotations = nil }), 120, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := attendedAt(test.elapsed, test.began, test.job); got != test.want {
				t.Errorf("it may run for %d s, want %d", got, test.want)
			}
		})
	}
}

func TestAJobThatIsGoneIsNotAttendedTo(t *testing.T) {
	t.Parallel()
	j := unattended()
	j.Status.StartTime = new(metav1.NewTime(noon.Time))
	if err := probejob.Attend(t.Context(), fake.NewClientBuilder().Build(), j, noon.Time, noon.Add(100*time.Second), "test"); err != nil {
		t.Error(err)
	}
}
