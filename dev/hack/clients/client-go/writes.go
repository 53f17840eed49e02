package main

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscaling "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/retry"
)

var writeChecks = []check{
	{"typed objects in JSON", func(ctx context.Context, s *scene) error { return typedObjects(ctx, s, s.json, "json") }},
	{"typed objects in protobuf", func(ctx context.Context, s *scene) error { return typedObjects(ctx, s, s.protobuf, "proto") }},
	{"typed errors", typedErrors},
	{"patches: JSON, merge, strategic", patches},
	{"typed server-side apply and extract", typedApply},
	{"applied scale", appliedScale},
	{"conflicts are retried", conflicts},
	{"one object in autoscaling v1 and v2", conversions},
	{"scale client", scaleClient},
	{"definition of a custom resource, objects at once", customResource},
	{"finalizers", finalizers},
	{"delete collection", deleteCollection},
	{"owners: dependents go", ownedObjects},
	{"eviction and its budget", eviction},
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	replicas := int32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
		},
	}
}

func podSpec() corev1.PodSpec {
	port := corev1.ContainerPort{ContainerPort: 80, Name: "http"}
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{port}}}}
}

func typedObjects(ctx context.Context, s *scene, client kubernetes.Interface, name string) error {
	deployments := client.AppsV1().Deployments(s.namespace)
	made, err := deployments.Create(ctx, deployment(name), metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		return err
	}
	// The controller writes its status meanwhile.
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if made, err = deployments.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		made.Spec.Paused = true
		made, err = deployments.Update(ctx, made, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	same, err := s.json.AppsV1().Deployments(s.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(same.Spec.Template.Spec.String(), made.Spec.Template.Spec.String()); err != nil {
		return err
	}
	list, err := deployments.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return err
	}
	if err := expect(len(list.Items), 1); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions(string(made.UID))}
	return deployments.Delete(ctx, name, options)
}

func typedErrors(ctx context.Context, s *scene) error {
	for name, client := range map[string]kubernetes.Interface{"json": s.json, "protobuf": s.protobuf} {
		configMaps := client.CoreV1().ConfigMaps(s.namespace)
		object := configMap("twice-"+name, nil)
		_, missing := configMaps.Get(ctx, "nobody", metav1.GetOptions{})
		_, first := configMaps.Create(ctx, object, metav1.CreateOptions{})
		_, again := configMaps.Create(ctx, object, metav1.CreateOptions{})
		_, invalid := configMaps.Create(ctx, configMap("No!", nil), metav1.CreateOptions{})
		wrong := metav1.NewUIDPreconditions("other")
		gone := configMaps.Delete(ctx, object.Name, metav1.DeleteOptions{Preconditions: wrong})
		got := []bool{apierrors.IsNotFound(missing), first == nil, apierrors.IsAlreadyExists(again),
			apierrors.IsInvalid(invalid), apierrors.IsConflict(gone)}
		if err := expect(got, []bool{true, true, true, true, true}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		details := invalid.(*apierrors.StatusError).ErrStatus.Details
		if err := expect(details.Causes[0].Field, "metadata.name"); err != nil {
			return err
		}
	}
	return nil
}

func patches(ctx context.Context, s *scene) error {
	deployments := s.protobuf.AppsV1().Deployments(s.namespace)
	if _, err := deployments.Create(ctx, deployment("patched"), metav1.CreateOptions{}); err != nil {
		return err
	}
	steps := []struct {
		kind types.PatchType
		body string
	}{
		{types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":0},{"op":"add","path":"/metadata/labels","value":{"a":"1"}}]`},
		{types.MergePatchType, `{"metadata":{"labels":{"b":"2","a":null}}}`},
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"j"}]}}}}`},
	}
	var got *appsv1.Deployment
	for _, step := range steps {
		var err error
		if got, err = deployments.Patch(ctx, "patched", step.kind, []byte(step.body), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", step.kind, err)
		}
	}
	names := []string{}
	for _, container := range got.Spec.Template.Spec.Containers {
		names = append(names, container.Name)
	}
	return expect([]any{got.Labels, names}, []any{map[string]string{"b": "2"}, []string{"d", "c"}})
}

func typedApply(ctx context.Context, s *scene) error {
	deployments := s.json.AppsV1().Deployments(s.namespace)
	labels := map[string]string{"app": "applied"}
	configuration := applyapps.Deployment("applied", s.namespace).WithSpec(applyapps.DeploymentSpec().
		WithReplicas(0).
		WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().
			WithContainers(applycore.Container().WithName("c").WithImage("i")))))
	made, err := deployments.Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	extracted, err := applyapps.ExtractDeployment(made, "one")
	if err != nil {
		return err
	}
	if err := expect(*extracted.Spec.Template.Spec.Containers[0].Image, "i"); err != nil {
		return err
	}
	configuration.Spec.WithReplicas(1)
	if _, err = deployments.Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) {
		return fmt.Errorf("a second manager: %v", err)
	}
	configuration.Spec.WithReplicas(0)
	_, err = deployments.Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "two"})
	return err
}

func appliedScale(ctx context.Context, s *scene) error {
	deployments := s.protobuf.AppsV1().Deployments(s.namespace)
	if _, err := deployments.Create(ctx, deployment("scale-apply"), metav1.CreateOptions{}); err != nil {
		return err
	}
	wanted := applyautoscaling.Scale().WithSpec(applyautoscaling.ScaleSpec().WithReplicas(0))
	_, err := deployments.ApplyScale(ctx, "scale-apply", wanted, metav1.ApplyOptions{FieldManager: "scaler", Force: true})
	return err
}

func conflicts(ctx context.Context, s *scene) error {
	client := s.protobuf.CoreV1().ConfigMaps(s.namespace)
	if _, err := client.Create(ctx, configMap("count", map[string]string{"n": ""}), metav1.CreateOptions{}); err != nil {
		return err
	}
	results := make(chan error)
	for range 4 {
		go func() {
			results <- retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				object, err := client.Get(ctx, "count", metav1.GetOptions{})
				if err != nil {
					return err
				}
				object.Data["n"] += "x"
				_, err = client.Update(ctx, object, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	for range 4 {
		if err := <-results; err != nil {
			return err
		}
	}
	object, err := client.Get(ctx, "count", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(object.Data["n"], "xxxx")
}

func conversions(ctx context.Context, s *scene) error {
	half := int32(50)
	made := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "both"},
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			MaxReplicas:                    3,
			TargetCPUUtilizationPercentage: &half,
			ScaleTargetRef:                 autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "x"},
		},
	}
	if _, err := s.protobuf.AutoscalingV1().HorizontalPodAutoscalers(s.namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	second, err := s.protobuf.AutoscalingV2().HorizontalPodAutoscalers(s.namespace).Get(ctx, "both", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := expect(*second.Spec.Metrics[0].Resource.Target.AverageUtilization, 50); err != nil {
		return err
	}
	*second.Spec.Metrics[0].Resource.Target.AverageUtilization = 70
	if _, err := s.json.AutoscalingV2().HorizontalPodAutoscalers(s.namespace).Update(ctx, second, metav1.UpdateOptions{}); err != nil {
		return err
	}
	first, err := s.json.AutoscalingV1().HorizontalPodAutoscalers(s.namespace).Get(ctx, "both", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return expect(*first.Spec.TargetCPUUtilizationPercentage, 70)
}

func scaleClient(ctx context.Context, s *scene) error {
	found, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(found))
	client, err := scale.NewForConfig(s.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(found))
	if err != nil {
		return err
	}
	if _, err := s.json.AppsV1().Deployments(s.namespace).Create(ctx, deployment("scaled"), metav1.CreateOptions{}); err != nil {
		return err
	}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	got, err := client.Scales(s.namespace).Get(ctx, deployments, "scaled", metav1.GetOptions{})
	if err != nil {
		return err
	}
	got, err = client.Scales(s.namespace).Update(ctx, deployments, got, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	return expect(got.Status.Selector, "app=scaled")
}

func customResource(ctx context.Context, s *scene) error {
	definitions := s.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	group := strings.ReplaceAll(s.namespace, "-", "") + ".example.com"
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "lamps." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"plural": "lamps", "singular": "lamp", "kind": "Lamp"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	if _, err := definitions.Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	defer func() { _ = definitions.Delete(context.Background(), "lamps."+group, metav1.DeleteOptions{}) }()
	isEstablished := func() bool {
		got, err := definitions.Get(ctx, "lamps."+group, metav1.GetOptions{})
		if err != nil {
			return false
		}
		conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
		for _, condition := range conditions {
			if fields := condition.(map[string]any); fields["type"] == "Established" && fields["status"] == "True" {
				return true
			}
		}
		return false
	}
	if err := eventually(ctx, "established", isEstablished); err != nil {
		return err
	}
	lamps := s.dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "lamps"}).Namespace(s.namespace)
	lamp := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Lamp", "metadata": map[string]any{"name": "a"}, "color": "red",
	}}
	if _, err := lamps.Apply(ctx, "a", lamp, metav1.ApplyOptions{FieldManager: "m"}); err != nil {
		return err
	}
	list, err := lamps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	return expect([]any{list.GetKind(), len(list.Items)}, []any{"LampList", 1})
}

func finalizers(ctx context.Context, s *scene) error {
	client := s.protobuf.CoreV1().ConfigMaps(s.namespace)
	object := configMap("kept", nil)
	object.Finalizers = []string{"example.com/keep"}
	if _, err := client.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := client.Delete(ctx, "kept", metav1.DeleteOptions{}); err != nil {
		return err
	}
	got, err := client.Get(ctx, "kept", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if got.DeletionTimestamp == nil {
		return fmt.Errorf("no deletionTimestamp")
	}
	got.Finalizers = nil
	if _, err := client.Update(ctx, got, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, err = client.Get(ctx, "kept", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("still there: %v", err)
	}
	return nil
}

func deleteCollection(ctx context.Context, s *scene) error {
	client := s.protobuf.CoreV1().ConfigMaps(s.namespace)
	if err := client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "page=yes"}); err != nil {
		return err
	}
	left, err := client.List(ctx, metav1.ListOptions{LabelSelector: "page=yes"})
	if err != nil {
		return err
	}
	return expect(len(left.Items), 0)
}

func ownedObjects(ctx context.Context, s *scene) error {
	client := s.json.CoreV1().ConfigMaps(s.namespace)
	owner, err := client.Create(ctx, configMap("owner", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	owned := configMap("owned", nil)
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	if _, err := client.Create(ctx, owned, metav1.CreateOptions{}); err != nil {
		return err
	}
	foreground := metav1.DeletePropagationForeground
	if err := client.Delete(ctx, "owner", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		return err
	}
	return eventually(ctx, "both are gone", func() bool {
		_, first := client.Get(ctx, "owner", metav1.GetOptions{})
		_, second := client.Get(ctx, "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(first) && apierrors.IsNotFound(second)
	})
}

func eviction(ctx context.Context, s *scene) error {
	client := s.protobuf.CoreV1().Pods(s.namespace)
	one := intstr.FromInt32(1)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"keep": "yes"}}},
	}
	if _, err := s.protobuf.PolicyV1().PodDisruptionBudgets(s.namespace).Create(ctx, budget, metav1.CreateOptions{}); err != nil {
		return err
	}
	spec := podSpec()
	spec.NodeName = "nowhere"
	for _, name := range []string{"held", "free"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
		if name == "held" {
			pod.Labels = map[string]string{"keep": "yes"}
		}
		pod, err := client.Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, ready
		if _, err := client.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	evict := func(name string) error {
		return client.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if err := evict("held"); !apierrors.IsTooManyRequests(err) {
		return fmt.Errorf("held: %v", err)
	}
	if err := evict("free"); err != nil {
		return err
	}
	return nil
}
