// A program on client-go that uses a cluster in the ways that controllers do. It needs an
// administrator's kubeconfig, works in a namespace of its own, and prints one line per check.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Everything that a check may use.
type scene struct {
	config    *rest.Config
	json      kubernetes.Interface
	protobuf  kubernetes.Interface
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	namespace string
}

type check struct {
	name string
	run  func(context.Context, *scene) error
}

func main() {
	s, err := newScene(os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Println("FAIL start:", err)
		os.Exit(1)
	}
	failed := 0
	for _, group := range [][]check{informerChecks, writeChecks, accessChecks} {
		for _, c := range group {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			if err := c.run(ctx, s); err != nil {
				failed++
				fmt.Printf("FAIL %s: %v\n", c.name, err)
			} else {
				fmt.Println("ok", c.name)
			}
			cancel()
		}
	}
	_ = s.json.CoreV1().Namespaces().Delete(context.Background(), s.namespace, metav1.DeleteOptions{})
	if failed > 0 {
		os.Exit(1)
	}
}

func newScene(path string) (*scene, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 200, 400
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	s := &scene{config: config}
	if s.json, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if s.protobuf, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if s.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	made, err := s.json.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "client-go-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	s.namespace = made.Name
	return s, nil
}

func expect(got, wanted any) error {
	if fmt.Sprint(got) == fmt.Sprint(wanted) {
		return nil
	}
	return fmt.Errorf("got %v, expected %v", got, wanted)
}

// Calls until it is true or the time of the check is over.
func eventually(ctx context.Context, what string, is func() bool) error {
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": "client-go"}},
		Data:       data,
	}
}
