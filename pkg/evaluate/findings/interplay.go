package findings

// Interplay is how the remedies of an answer meet: each is predicted as if nothing else changed, so that those which concern one node
// hold one at a time.
type Interplay struct {
	// Remedies is how many changes concern a node that another one concerns, too.
	Remedies int
	// Moves is how many pods are to be moved to Node, of all nodes the one to which most are.
	Moves int
	Node  string
}

// change identifies the change of a remedy. Remedies of several pods can be the same change.
type change struct {
	action    Action
	pod, node string
	cpu       string // the request or limit
}

// Interplay returns how the remedies meet.
func (a *Answer) Interplay() Interplay {
	concern, arrive := map[string]map[change]bool{}, map[string]map[string]bool{} // by node
	for i := range a.Findings {
		f := &a.Findings[i]
		c, is := f.change()
		if !is {
			continue
		}
		note(concern, f.Node, c)
		if c.node != "" {
			note(concern, c.node, c)
			note(arrive, c.node, c.pod)
		}
	}
	meeting := map[change]bool{}
	for _, changes := range concern {
		for c := range changes {
			meeting[c] = meeting[c] || len(changes) > 1
		}
	}
	p := Interplay{}
	for _, meets := range meeting {
		if meets {
			p.Remedies++
		}
	}
	for node, pods := range arrive {
		if len(pods) > p.Moves || len(pods) == p.Moves && node < p.Node {
			p.Node, p.Moves = node, len(pods)
		}
	}
	return p
}

// note adds a member to the set of a node.
func note[T comparable](sets map[string]map[T]bool, node string, member T) {
	if sets[node] == nil {
		sets[node] = map[T]bool{}
	}
	sets[node][member] = true
}

// change returns the change of a finding's remedy, if there is one.
func (f *Finding) change() (c change, is bool) {
	r := &f.Remedy
	c = change{action: r.Action, pod: f.Pod.Pod}
	switch r.Action {
	case RaiseRequest:
		c.cpu = r.Request.String()
	case RaiseLimit:
		c.cpu = r.Limit.String()
	case MovePod, MoveNeighbour: // the same to who moves it
		c.action, c.pod, c.node = MovePod, r.Pod, r.Node
	case Leave:
		return c, false
	}
	return c, true
}
