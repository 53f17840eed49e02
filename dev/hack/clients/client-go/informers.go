package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	watchtools "k8s.io/client-go/tools/watch"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

var informerChecks = []check{
	{"discovery and REST mapper", discoveryAndMapper},
	{"shared informer, JSON", func(ctx context.Context, s *scene) error { return sharedInformer(ctx, s, s.json, "json") }},
	{"shared informer, protobuf", func(ctx context.Context, s *scene) error { return sharedInformer(ctx, s, s.protobuf, "proto") }},
	{"informer that resyncs", resyncs},
	{"dynamic informer", dynamicInformer},
	{"metadata informer", metadataInformer},
	{"watch list", watchList},
	{"pager", paged},
	{"retrying watch", retryingWatch},
	{"watch from a version that is gone", expiredWatch},
}

func discoveryAndMapper(_ context.Context, s *scene) error {
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	if _, _, err := client.ServerGroupsAndResources(); err != nil {
		return err
	}
	if _, err := client.OpenAPISchema(); err != nil {
		return err
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	if _, err := paths["apis/apps/v1"].Schema("application/com.github.proto-openapi.spec.v3@v1.0+protobuf"); err != nil {
		return err
	}
	mapper := restmapper.NewShortcutExpander(
		restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client)), client, func(string) {})
	found, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: "deploy"})
	if err != nil {
		return err
	}
	return expect(found, "apps/v1, Resource=deployments")
}

// What happens to an object reaches the handlers, and the index has what is there.
func observe(ctx context.Context, s *scene, informer cache.SharedIndexInformer, name string) error {
	var added, updated, deleted atomic.Int32
	is := func(object any) bool {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		named, ok := object.(metav1.Object)
		return ok && named.GetName() == name
	}
	count := func(counter *atomic.Int32) func(any) {
		return func(object any) {
			if is(object) {
				counter.Add(1)
			}
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    count(&added),
		UpdateFunc: func(_, next any) { count(&updated)(next) },
		DeleteFunc: count(&deleted),
	})
	if err != nil {
		return err
	}
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	go informer.Run(stop.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the informer did not synchronize")
	}
	client := s.json.CoreV1().ConfigMaps(s.namespace)
	made, err := client.Create(ctx, configMap(name, map[string]string{"n": "0"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := eventually(ctx, "added", func() bool { return added.Load() == 1 }); err != nil {
		return err
	}
	made.Data["n"] = "1"
	if _, err := client.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := eventually(ctx, "updated", func() bool { return updated.Load() > 0 }); err != nil {
		return err
	}
	key := s.namespace + "/" + name
	if _, exists, _ := informer.GetStore().GetByKey(key); !exists {
		return fmt.Errorf("%s is not in the store", key)
	}
	if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "deleted", func() bool { return deleted.Load() == 1 })
}

func sharedInformer(ctx context.Context, s *scene, client kubernetes.Interface, name string) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(s.namespace))
	return observe(ctx, s, factory.Core().V1().ConfigMaps().Informer(), "shared-"+name)
}

func dynamicInformer(ctx context.Context, s *scene) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(s.dynamic, 0, s.namespace, nil)
	return observe(ctx, s, factory.ForResource(configMaps).Informer(), "dynamic")
}

func metadataInformer(ctx context.Context, s *scene) error {
	factory := metadatainformer.NewFilteredSharedInformerFactory(s.metadata, 0, s.namespace, nil)
	return observe(ctx, s, factory.ForResource(configMaps).Informer(), "metadata")
}

func resyncs(ctx context.Context, s *scene) error {
	factory := informers.NewSharedInformerFactoryWithOptions(s.protobuf, time.Second, informers.WithNamespace(s.namespace))
	var synced atomic.Int32
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(before, next any) {
			if before.(*corev1.ConfigMap).ResourceVersion == next.(*corev1.ConfigMap).ResourceVersion {
				synced.Add(1)
			}
		},
	})
	if err != nil {
		return err
	}
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	go informer.Run(stop.Done())
	if _, err := s.json.CoreV1().ConfigMaps(s.namespace).Create(ctx, configMap("resync", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	return eventually(ctx, "a resync", func() bool { return synced.Load() > 0 })
}

func watchList(ctx context.Context, s *scene) error {
	for name, client := range map[string]kubernetes.Interface{"json": s.json, "protobuf": s.protobuf} {
		yes := true
		watched, err := client.CoreV1().ConfigMaps(s.namespace).Watch(ctx, metav1.ListOptions{
			SendInitialEvents:    &yes,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			AllowWatchBookmarks:  true,
		})
		if err != nil {
			return err
		}
		before := 0
		for event := range watched.ResultChan() {
			if event.Type == watch.Added {
				before++
				continue
			}
			marks := event.Object.(*corev1.ConfigMap).Annotations
			if event.Type != watch.Bookmark || marks[metav1.InitialEventsAnnotationKey] != "true" {
				return fmt.Errorf("%s: %s %v", name, event.Type, marks)
			}
			break
		}
		watched.Stop()
		if before == 0 {
			return fmt.Errorf("%s: no initial events", name)
		}
	}
	return nil
}

func paged(ctx context.Context, s *scene) error {
	client := s.protobuf.CoreV1().ConfigMaps(s.namespace)
	for n := range 25 {
		object := configMap(fmt.Sprintf("page-%02d", n), nil)
		object.Labels["page"] = "yes"
		if _, err := client.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	lister := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, options)
	}))
	lister.PageSize = 7
	seen := 0
	err := lister.EachListItem(ctx, metav1.ListOptions{LabelSelector: "page=yes"}, func(runtime.Object) error {
		seen++
		return nil
	})
	if err != nil {
		return err
	}
	return expect(seen, 25)
}

func retryingWatch(ctx context.Context, s *scene) error {
	client := s.json.CoreV1().ConfigMaps(s.namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			seconds := int64(1)
			options.TimeoutSeconds = &seconds
			return client.Watch(ctx, options)
		},
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	// Longer than one watch lasts.
	time.Sleep(1500 * time.Millisecond)
	if _, err := client.Create(ctx, configMap("late", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	for event := range watcher.ResultChan() {
		if event.Type == watch.Added && event.Object.(*corev1.ConfigMap).Name == "late" {
			return nil
		}
	}
	return errors.New("the watch ended")
}

func expiredWatch(ctx context.Context, s *scene) error {
	watched, err := s.json.CoreV1().ConfigMaps(s.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		return err
	}
	defer watched.Stop()
	// What has not been compacted yet is sent instead of the error.
	event, ok := <-watched.ResultChan()
	if !ok || (event.Type != watch.Error && event.Type != watch.Added) {
		return fmt.Errorf("got %v", event)
	}
	return nil
}
