// Answers what Karmada's own functions answer. Reads cases as a JSON array on stdin, writes answers as one on stdout.
// It is built within Karmada's module (see record.ts), whose packages it calls.
package main

import (
	"encoding/json"
	"errors"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	"github.com/karmada-io/karmada/pkg/controllers/binding"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/native"
	"github.com/karmada-io/karmada/pkg/resourceinterpreter/default/native/prune"
	"github.com/karmada-io/karmada/pkg/util/gclient"
	"github.com/karmada-io/karmada/pkg/util/overridemanager"
)

type question struct {
	Operation       string                                 `json:"operation"`
	Object          *unstructured.Unstructured             `json:"object"`
	Observed        *unstructured.Unstructured             `json:"observed"`
	Replicas        int64                                  `json:"replicas"`
	Items           []workv1alpha2.AggregatedStatusItem    `json:"items"`
	Cluster         *clusterv1alpha1.Cluster               `json:"cluster"`
	Policies        []policyv1alpha1.OverridePolicy        `json:"policies"`
	ClusterPolicies []policyv1alpha1.ClusterOverridePolicy `json:"clusterPolicies"`
}

type answer struct {
	Error  string `json:"error,omitempty"`
	Result any    `json:"result,omitempty"`
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		panic(err)
	}
	answers := make([]answer, 0, len(questions))
	for _, asked := range questions {
		answers = append(answers, answerTo(asked))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}

func answerTo(asked question) (told answer) {
	defer func() {
		if problem := recover(); problem != nil {
			told = answer{Error: "panic"}
		}
	}()
	result, err := ask(asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Result: result}
}

func ask(asked question) (any, error) {
	object := asked.Object
	known := native.NewDefaultInterpreter()
	switch asked.Operation {
	case "Override":
		return override(asked, object)
	case "InterpretReplica":
		replicas, requirements, err := known.GetReplicas(object)
		return map[string]any{"replicas": replicas, "requirements": requirements}, err
	case "ReviseReplica":
		return known.ReviseReplica(object, asked.Replicas)
	case "Retain":
		return known.Retain(object, asked.Observed)
	case "Prune":
		err := prune.RemoveIrrelevantFields(object, prune.RemoveJobTTLSeconds)
		return object, err
	case "InterpretStatus":
		status, err := known.ReflectStatus(object)
		if status == nil {
			return nil, err
		}
		return json.RawMessage(status.Raw), err
	case "AggregateStatus":
		return known.AggregateStatus(object, asked.Items)
	case "InterpretHealth":
		return known.InterpretHealth(object)
	case "InterpretDependency":
		return known.GetDependencies(object)
	}
	return nil, errors.New("unknown operation")
}

func override(asked question, object *unstructured.Unstructured) (any, error) {
	objects := []client.Object{asked.Cluster}
	for i := range asked.Policies {
		objects = append(objects, &asked.Policies[i])
	}
	for i := range asked.ClusterPolicies {
		objects = append(objects, &asked.ClusterPolicies[i])
	}
	store := fake.NewClientBuilder().WithScheme(gclient.NewSchema()).WithObjects(objects...).Build()
	overrides := overridemanager.New(store, &record.FakeRecorder{})
	byCluster, byNamespace, err := overrides.ApplyOverridePolicies(object, asked.Cluster.Name)
	if err != nil {
		return nil, err
	}
	annotations, err := binding.RecordAppliedOverrides(byCluster, byNamespace, nil)
	return map[string]any{"object": object, "annotations": annotations}, err
}
