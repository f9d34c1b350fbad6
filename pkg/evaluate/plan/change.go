package plan

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Action is a kind of change.
type Action string

// Actions.
const (
	// RaiseRequest gives a container another CPU request, and so its pod more weight; LowerRequest less.
	RaiseRequest Action = "RaiseRequest"
	LowerRequest Action = "LowerRequest"
	// RaiseLimit gives a container another CPU limit.
	RaiseLimit Action = "RaiseLimit"
	// MovePod moves a pod to another node.
	MovePod Action = "MovePod"
)

// Actions are all of them.
var Actions = []Action{RaiseRequest, LowerRequest, RaiseLimit, MovePod}

// Change is a change of one pod.
type Change struct {
	Action Action `json:"action"`
	// Pod is the pod as namespace/name, Workload its owner, such as Deployment shop/cart, and Node the node that it runs on.
	Pod      string `json:"pod"`
	Workload string `json:"workload"`
	Node     string `json:"node"`
	// To is the node that the pod moves to.
	To string `json:"to,omitempty"`
	// Container is the one whose request or limit changes, empty where it is that of the pod as a whole.
	Container string `json:"container,omitempty"`
	// Request and Limit are the new ones, absent where they stay as they are; WasRequest and WasLimit are those before, absent where
	// there was none.
	Request    *resource.Quantity `json:"request,omitempty"`
	Limit      *resource.Quantity `json:"limit,omitempty"`
	WasRequest *resource.Quantity `json:"wasRequest,omitempty"`
	WasLimit   *resource.Quantity `json:"wasLimit,omitempty"`
}

// CPU returns what the container of a change is to have.
func (c *Change) CPU() disruption.ContainerCPU {
	return disruption.ContainerCPU{Container: c.Container, Request: c.Request, Limit: c.Limit}
}

// key identifies a change among those of a cluster.
type key struct {
	action              Action
	pod, container, way string
}

func (c *Change) key() key {
	k := key{action: c.Action, pod: c.Pod, container: c.Container, way: c.To}
	switch {
	case c.Request != nil:
		k.way = c.Request.String()
	case c.Limit != nil:
		k.way = c.Limit.String()
	}
	return k
}
