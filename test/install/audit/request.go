package audit

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Right is a verb on a resource.
type Right struct {
	// Verb is that of RBAC, such as patch.
	Verb string
	// Group is the API group, "" for that of pods.
	Group string
	// Resource is the plural, with the subresource if there is one, such as pods or
	// deployments/scale.
	Resource string
}

// String is the right as people write it: patch poolplans.loadline.dev/status.
func (r Right) String() string {
	if r.Group == "" {
		return r.Verb + " " + r.Resource
	}
	resource, sub, is := cut(r.Resource)
	if is {
		return fmt.Sprintf("%s %s.%s/%s", r.Verb, resource, r.Group, sub)
	}
	return fmt.Sprintf("%s %s.%s", r.Verb, resource, r.Group)
}

// Request is what a service account asked.
type Request struct {
	// Right is the one that it needs.
	Right
	// Account is the name of the user: system:serviceaccount:NAMESPACE:NAME.
	Account string
	// Namespace is that of the object, "" for all or none.
	Namespace string
	// Name is that of the object, "" for many.
	Name string
	// Path is that of a request that is about no resource, such as /healthz, else "".
	Path string
	// Time is when it came.
	Time time.Time
	// Forbidden reports whether it was refused for want of a right, and Why in whose
	// words.
	Forbidden bool
	Why       string
	// alsoLists reports whether it is a watch that begins with a list.
	alsoLists bool
}

// String tells the request in a line.
func (r *Request) String() string {
	what := r.Right.String()
	if r.Path != "" {
		what = r.Verb + " " + r.Path
	}
	if r.Name != "" {
		what += " " + r.Name
	}
	if r.Namespace != "" {
		what += " in namespace " + r.Namespace
	}
	return fmt.Sprintf("%s: %s may not %s: %s", r.Time.UTC().Format(time.TimeOnly), r.Account, what, r.Why)
}

// event is as much as matters of an event of audit.k8s.io/v1.
type event struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	Received    time.Time         `json:"requestReceivedTimestamp"`
	Annotations map[string]string `json:"annotations"`
}

// decision is the annotation with what the authorizers said, reason the one with why.
const (
	decision = "authorization.k8s.io/decision"
	reason   = "authorization.k8s.io/reason"
)

// maxLine is how long an event may be, in bytes.
const maxLine = 1 << 20

// Read reads what some accounts asked, in order. A request may be there twice: when a
// watch began and when it ended. A last line that is being written is left out.
func Read(log io.Reader, accounts ...string) ([]Request, error) {
	var requests []Request
	lines := bufio.NewReaderSize(log, maxLine)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return requests, nil
		case err != nil:
			return nil, fmt.Errorf("line %d of the audit log: %w", number, err)
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d of the audit log: %w", number, err)
		}
		if e.APIVersion != "audit.k8s.io/v1" || e.Kind != "Event" {
			return nil, fmt.Errorf("line %d of the audit log: %s %s is not an Event of audit.k8s.io/v1", number, e.APIVersion, e.Kind)
		}
		if !slices.Contains(accounts, e.User.Username) {
			continue
		}
		r, err := e.request()
		if err != nil {
			return nil, fmt.Errorf("line %d of the audit log: %w", number, err)
		}
		requests = append(requests, r)
	}
}

// request is the event as a request.
func (e *event) request() (Request, error) {
	r := Request{Right: Right{Verb: e.Verb}, Account: e.User.Username, Time: e.Received}
	// Admission forbids, too, such as what is new in a namespace that is being deleted.
	r.Forbidden = e.ResponseStatus.Code == http.StatusForbidden && e.Annotations[decision] != "allow"
	r.Why = cmp.Or(e.ResponseStatus.Message, e.Annotations[reason], "no reason is given")
	address, err := url.Parse(e.RequestURI)
	if err != nil {
		return Request{}, fmt.Errorf("requestURI: %w", err)
	}
	if e.ObjectRef == nil || e.ObjectRef.Resource == "" {
		r.Path = address.Path
		return r, nil
	}
	r.Group, r.Resource = e.ObjectRef.APIGroup, e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	r.Namespace, r.Name = e.ObjectRef.Namespace, e.ObjectRef.Name
	r.alsoLists = e.Verb == "watch" && address.Query().Get("sendInitialEvents") == "true"
	return r, nil
}
