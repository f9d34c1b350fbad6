package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// found is what a measurement tells of one resource.
func found(name, loading string) v1alpha1.MeasuredLoading {
	q := new(resource.MustParse(loading))
	return v1alpha1.MeasuredLoading{Name: name, Loading: q, Pressure: q, Threads: new(int32(1)), Samples: new(int32(3))}
}

// measures writes what was measured of a profile on a class of nodes, as the
// controller of measurements does.
func (p *place) measures(t *testing.T, w *v1alpha1.WorkloadProfile, class string, resources ...v1alpha1.MeasuredLoading) {
	t.Helper()
	before := client.MergeFrom(w.DeepCopy())
	w.Status.Measurements = append(w.Status.Measurements, v1alpha1.MeasuredVector{
		NodeProfile: class, Node: p.nodes[0], Time: new(metav1.Now().Rfc3339Copy()), Question: "q", Method: v1alpha1.MethodProbes,
		Rounds: new(int32(3)), NeutralMillis: new(int64(4000)), Resources: resources,
	})
	must(t, p.Status().Patch(t.Context(), w, before))
}

// On nodes of one class a job needs the disk, on those of the other it computes.
// The scheduler learns both while it runs, and so does the manager.
func TestMeasuredVectorsCountOnTheNodesThatTheyAreOf(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 2)
	var classes []v1alpha1.NodeProfile
	for i, name := range p.nodes { // a class of its own for each node
		class := &v1alpha1.NodeProfile{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%d", i)},
			Spec: v1alpha1.NodeProfileSpec{
				Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/hostname": name}},
				Calibration: &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{{Name: "cpu"}, {Name: "disk"}}},
			},
		}
		p.label(t, name, "kubernetes.io/hostname", name)
		must(t, p.Create(t.Context(), class))
		before := client.MergeFrom(class.DeepCopy())
		class.Status.Resources = []v1alpha1.CalibratedResource{{
			Name: "cpu", Job: v1alpha1.ProbeCPU, Servers: new(int32(1)), Dilation: new(resource.MustParse("2")), Node: name, Time: new(metav1.Now().Rfc3339Copy()), Question: "q",
		}}
		must(t, p.Status().Patch(t.Context(), class, before))
		classes = append(classes, *class)
	}
	p.startManager(t)
	p.await(t, &classes[0], func() bool {
		s := classes[0].Status
		return has(s.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonCalibrated, "cpu 1") && len(s.Servers) == 1 && len(s.Resources) == 1
	})
	p.startScheduler(t, onlyDilation)
	must(t, p.Create(t.Context(), p.profile("busy", map[string]string{"cpu": "0.9"})))
	job := p.profile("job", nil)
	job.Spec.Measurement = &v1alpha1.Measurement{}
	must(t, p.Create(t.Context(), job))
	p.await(t, job, func() bool {
		return has(job.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonNotMeasured, "by their requests")
	})
	p.measures(t, job, "class-0", found("disk", "0.9"))
	p.measures(t, job, "class-1", found("cpu", "0.9"))
	p.await(t, job, func() bool {
		return has(job.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonMeasured, "on nodes of class-0 that of") &&
			len(job.Status.Resources) == 1 && len(job.Status.Measurements) == 2 && *job.Status.NeutralMillis == 4000
	})

	// Both nodes compute. The job disturbs no pod on the first one.
	for i, name := range p.nodes {
		pod := p.pod(fmt.Sprintf("busy-%d", i), "busy")
		pod.Spec.NodeName = name
		must(t, p.Create(t.Context(), pod))
	}
	for i := range 100 { // the scheduler hears of the profiles a moment later
		name := fmt.Sprintf("job-%d", i)
		must(t, p.Create(t.Context(), p.pod(name, "job")))
		first := p.awaitBound(t, 3)[name] == p.nodes[0]
		must(t, p.Delete(t.Context(), p.pod(name, "job"), client.GracePeriodSeconds(0)))
		p.awaitBound(t, 2)
		if first && i > 0 {
			return
		}
	}
	t.Error("the job never goes where it disturbs no pod")
}

func (p *place) label(t *testing.T, node, key, value string) {
	t.Helper()
	n := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: node}}
	n.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Node"})
	must(t, p.Patch(t.Context(), n, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, key, value))))
}

// What kubectl get prints: the numbers in use, wherever they come from.
func TestTheColumnsShowWhatIsInUse(t *testing.T) {
	t.Parallel()
	e := ownEnvironment(t)
	n := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "ssd"}, Spec: v1alpha1.NodeProfileSpec{
		Selector: &metav1.LabelSelector{}, Calibration: &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{{Name: "cpu"}, {Name: "disk"}}},
	}}
	must(t, e.Create(t.Context(), n))
	before := client.MergeFrom(n.DeepCopy())
	n.Status.Servers = []v1alpha1.ResourceServers{{Name: "cpu", Servers: new(int32(16))}, {Name: "disk", Servers: new(int32(4))}}
	n.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionCalibrated, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCalibrated, LastTransitionTime: metav1.Now().Rfc3339Copy(),
	}}
	must(t, e.Status().Patch(t.Context(), n, before))
	if got, want := e.columns(t, "nodeprofiles"), "Name=ssd CPU=16 Disk=4 Network=<nil> Nodes=<nil> Ready=<nil> Calibrated=Calibrated"; !strings.HasPrefix(got, want) {
		t.Errorf("the columns are\n%s\nwant\n%s", got, want)
	}

	w := asking("default", "web")
	must(t, e.Create(t.Context(), w))
	before = client.MergeFrom(w.DeepCopy())
	w.Status.Resources = []v1alpha1.ResourceLoading{{Name: "cpu", Loading: new(resource.MustParse("0.62")), Pressure: new(resource.MustParse("0.7")), Threads: new(int32(1))}}
	w.Status.NeutralMillis, w.Status.Pods = new(int64(4000)), new(int32(2))
	must(t, e.Status().Patch(t.Context(), w, before))
	if got, want := e.columns(t, "namespaces/default/workloadprofiles"), "Name=web CPU=620m Disk=<nil> Network=<nil> Neutral ms=4000 Pods=2 Ready=<nil> Measured=<nil>"; !strings.HasPrefix(got, want) {
		t.Errorf("the columns are\n%s\nwant\n%s", got, want)
	}
}

// columns returns the first row that kubectl would print of some objects.
func (e *environment) columns(t *testing.T, path string) string {
	t.Helper()
	config := rest.CopyConfig(e.plane.RESTConfig())
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/apis", &v1alpha1.GroupVersion, scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	must(t, err)
	table := &metav1.Table{}
	must(t, c.Get().AbsPath("/apis/loadline.dev/v1alpha1/"+path).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Into(table))
	var cells []string
	for i, cell := range table.Rows[0].Cells {
		cells = append(cells, fmt.Sprintf("%s=%v", table.ColumnDefinitions[i].Name, cell))
	}
	return strings.Join(cells, " ")
}
