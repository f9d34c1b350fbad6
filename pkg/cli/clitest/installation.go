package clitest

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/installation"
)

// Installed returns the objects of an installation of Loadline that is well.
func Installed() []client.Object {
	return []client.Object{
		deploymentOf(installation.Manager), deploymentOf(installation.Scheduler), SchedulerConfigMap(SchedulerYAML),
		Lease(installation.Manager, deployed.InstallNamespace, time.Now()), Lease(installation.Scheduler, deployed.ElectionNamespace, time.Now()),
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "measurement.loadline.dev"}},
		&admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "measurement.loadline.dev"},
			Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "measurement.loadline.dev"},
		},
		&admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "of-somebody-else"}},
		&admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "loadline-pools", Labels: map[string]string{installation.PartOfLabel: installation.PartOf}}},
		&admissionv1.MutatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "loadline-pools"},
			Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "loadline-pools"},
		},
	}
}

// SchedulerYAML is the configuration of the installed scheduler.
const SchedulerYAML = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceName: loadline-scheduler, resourceNamespace: kube-system}
profiles:
- schedulerName: other
- schedulerName: loadline
  plugins: {multiPoint: {enabled: [{name: Dilation, weight: 10}]}}
  pluginConfig:
  - name: Dilation
    args: {apiVersion: config.loadline.dev/v1alpha1, kind: DilationArgs, requests: [{resource: cpu, minimum: 200m}]}
`

// SchedulerConfigMap returns the ConfigMap that holds the configuration of the installed scheduler.
func SchedulerConfigMap(content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployed.InstallNamespace, Name: "loadline-scheduler-5t6h"},
		Data:       map[string]string{"scheduler.yaml": content},
	}
}

// deploymentOf is a Deployment of a component with two replicas.
func deploymentOf(component string) *appsv1.Deployment {
	program := "loadline-" + component
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployed.InstallNamespace, Name: program, Labels: map[string]string{installation.PartOfLabel: installation.PartOf}},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{
					Name: component, Image: "registry.test:5000/loadline/" + program + ":0.2.0", Command: []string{program}, Args: []string{"--leader-elect"},
				}},
			}},
		},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 2},
	}
	if component == installation.Scheduler {
		pod := &d.Spec.Template.Spec
		pod.Containers[0].Args = []string{"--config=/etc/loadline/scheduler.yaml"}
		pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/etc/loadline"}}
		pod.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "loadline-scheduler-5t6h"},
		}}}}
	}
	return d
}

// Lease returns one that a pod of a component has renewed.
func Lease(component, namespace string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "loadline-" + component},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("loadline-" + component + "-7d9-abc_0b1c"), LeaseDurationSeconds: new(int32(3600)), // longer than any test takes
			RenewTime: new(metav1.NewMicroTime(renewed)),
		},
	}
}

// Unrenewed takes out when a lease was renewed.
func Unrenewed(l *coordinationv1.Lease) *coordinationv1.Lease {
	l.Spec.RenewTime = nil
	return l
}
