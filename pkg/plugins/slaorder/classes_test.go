package slaorder

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

// A change of a profile leaves the pods that wait in other namespaces as they are, and their classes.
func TestAChangedProfileTouchesThePodsOfItsNamespace(t *testing.T) {
	t.Parallel()
	theirs := promising("theirs", 3, 0.9)
	theirs.Namespace = "theirs"
	o := newTested(config.HOL, 60, 3600, promising("ours", 3, 0.9), theirs)
	our, their := pod("our", "ours", 0), pod("their", "theirs", 0)
	their.Namespace = "theirs"
	o.waiting.OnAdd(our, false)
	o.waiting.OnAdd(their, false)
	ourBefore, theirBefore := o.waiting.get(our.UID), o.waiting.get(their.UID)
	changed := theirs.DeepCopy()
	changed.Generation++
	changed.Spec.SLA.ResponseTimeMillis = new(int64(9000))
	o.index.OnUpdate(theirs, changed)
	o.update()
	if now := o.waiting.get(our.UID); now != ourBefore {
		t.Error("a pod of another namespace was classified again")
	}
	if now := o.waiting.get(their.UID); now.class == theirBefore.class || now.class.sla.Within != 9 {
		t.Errorf("the pod has the class %+v, had %+v", now.class, theirBefore.class)
	}
}

// Classes that followed any changes of profiles are those that a new plugin makes.
func TestClassesThatFollowedChangesAreThoseOfANewPlugin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now, generation := map[types.NamespacedName]*v1alpha1.WorkloadProfile{}, int64(0)
		newKnown := func() *classes {
			return newClasses(config.HOL, time.Hour, profile.NewIndex(nil, logr.Discard()), clocktesting.NewFakeClock(noon))
		}
		c := newKnown()
		draw := func(t *rapid.T) *v1alpha1.WorkloadProfile {
			p := promising(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), float64(rapid.IntRange(2, 4).Draw(t, "within")), 0.9)
			p.Namespace = rapid.SampledFrom([]string{"shop", "etl"}).Draw(t, "namespace")
			return p
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				p := draw(t)
				if rapid.Bool().Draw(t, "promises nothing") {
					p.Spec.SLA = nil
				}
				generation++
				p.Generation = generation
				c.index.OnUpdate(nil, p)
				now[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
			},
			"delete": func(t *rapid.T) {
				p := draw(t)
				c.index.OnDelete(p)
				delete(now, types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
			},
			"": func(t *rapid.T) {
				c.refresh()
				fresh := newKnown()
				for _, p := range now {
					fresh.index.OnAdd(p, false)
				}
				fresh.refresh()
				if diff := cmp.Diff(fresh.summary(), c.summary()); diff != "" {
					t.Fatalf("unexpected classes (-new +followed):\n%s", diff)
				}
			},
		})
	})
}

// summary returns what is known of classes: those of pods, and by name those that there are.
func (c *classes) summary() map[string]string {
	all := map[string]string{"of profiles": fmt.Sprint(len(c.current.Load().of))}
	for name, one := range c.byName {
		all[name.String()] = fmt.Sprint(one.sla, one.urgency(), one.shown)
	}
	for _, namespace := range []string{"shop", "etl"} {
		for _, app := range []string{"a", "b", "c"} {
			p := pod(app, app, 0)
			p.Namespace = namespace
			if one := c.of(p); one != nil {
				all["of "+namespace+"/"+app] = fmt.Sprint(one.NamespacedName, one.sla)
			}
		}
	}
	return all
}
