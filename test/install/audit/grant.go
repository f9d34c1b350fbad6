package audit

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Grant is a right that an account has by a role.
type Grant struct {
	Right
	// Account is the name of the user: system:serviceaccount:NAMESPACE:NAME.
	Account string
	// Role is what grants it, such as ClusterRole loadline-manager.
	Role string
	// Namespaces are where it holds. None is everywhere.
	Namespaces []string
	// Names are of which objects it holds. None is of all.
	Names []string
}

// String tells the grant in a line.
func (g *Grant) String() string {
	text := fmt.Sprintf("%s lets %s %s", g.Role, g.Account, g.Right)
	if len(g.Names) > 0 {
		text += " " + strings.Join(g.Names, ", ")
	}
	if len(g.Namespaces) > 0 {
		text += " in namespace " + strings.Join(g.Namespaces, ", ")
	}
	return text
}

// Grants returns the rights that the rules of a role give an account, one by one, in
// some namespaces, or everywhere when none is named. A rule that grants all ("*") of
// something, or what is no resource, is an error: whether it is needed cannot be
// decided.
func Grants(account, role string, rules []rbacv1.PolicyRule, namespaces ...string) ([]Grant, error) {
	var grants []Grant
	for i, rule := range rules {
		if all := slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs); slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "*") }) {
			return nil, fmt.Errorf(`%s: rules[%d]: %v: it must list what it grants, and not "*"`, role, i, rule)
		}
		if len(rule.NonResourceURLs) > 0 {
			return nil, fmt.Errorf("%s: rules[%d]: %v: no such paths are asked for", role, i, rule.NonResourceURLs)
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					grants = append(grants, Grant{
						Right: Right{verb, group, resource}, Account: account, Role: role, Namespaces: namespaces, Names: rule.ResourceNames,
					})
				}
			}
		}
	}
	return grants, nil
}

// allows reports whether the grant is one for a request.
func (g *Grant) allows(r *Request) bool {
	verb := g.Verb == r.Verb || g.Verb == "list" && r.alsoLists
	return verb && g.Account == r.Account && g.Group == r.Group && g.Resource == r.Resource &&
		(len(g.Namespaces) == 0 || slices.Contains(g.Namespaces, r.Namespace)) &&
		(len(g.Names) == 0 || slices.Contains(g.Names, r.Name))
}

// cut cuts a resource from its subresource.
func cut(resource string) (name, sub string, is bool) { return strings.Cut(resource, "/") }
