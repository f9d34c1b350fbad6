package who

import (
	"context"
	"errors"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
)

func TestAChangeIsApprovedByTheNameOfTheUser(t *testing.T) {
	t.Parallel()
	scheme, err := access.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	waiting := &v1alpha1.Remediation{}
	waiting.Namespace, waiting.Name, waiting.Spec.Policy = "etl", "sort-2-move", "shared"
	refused := errors.New("you may not")
	var refuses error
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(waiting).Build(), interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			if review, is := o.(*authenticationv1.SelfSubjectReview); is {
				review.Status.UserInfo.Username = "ann"
			}
			return refuses
		},
	})
	p := &pageSource{client: c}
	name := types.NamespacedName{Namespace: "etl", Name: "sort-2-move"}
	if err := p.approveAs(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	got := &v1alpha1.Remediation{}
	if err := c.Get(t.Context(), name, got); err != nil {
		t.Fatal(err)
	}
	if a := got.Spec.Approval; a == nil || a.Decision != v1alpha1.DecisionApproved || a.By != "ann" || got.Spec.Policy != "shared" {
		t.Errorf("it is %+v", got.Spec)
	}
	if err := p.approveAs(t.Context(), types.NamespacedName{Namespace: "etl", Name: "nosuch"}); !apierrors.IsNotFound(err) {
		t.Errorf("of none: %v", err)
	}
	refuses = refused
	if err := p.approveAs(t.Context(), name); !errors.Is(err, refused) {
		t.Errorf("of one who is not known: %v", err)
	}
}
