// Package main does with kine's client what K3s does with it: it takes the datastore from an endpoint as K3s's option
// names it, keeps the cluster's bootstrap data there, and compacts. It prints `ok` or `FAIL` for each check.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/k3s-io/kine/pkg/client"
	"github.com/k3s-io/kine/pkg/endpoint"
)

const runMax = time.Minute

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), runMax)
	defer cancel()
	config, err := endpoint.Listen(ctx, endpoint.Config{Endpoint: os.Args[1]})
	must("an endpoint of http is taken for an etcd", err)
	if len(config.Endpoints) != 1 || config.Endpoints[0] != os.Args[1] {
		must("the endpoint stays what it is", fmt.Errorf("it is %v", config.Endpoints))
	}
	store, err := client.New(config)
	must("a client connects", err)
	defer store.Close()
	const key = "/bootstrap/judged"
	_, err = store.Get(ctx, key)
	expect("a key that is not there is not found", errors.Is(err, client.ErrNotFound), err)
	must("a key is created", store.Create(ctx, key, []byte("one")))
	expect("it is created once", store.Create(ctx, key, []byte("two")) != nil, nil)
	value, err := store.Get(ctx, key)
	expect("it is read", err == nil && string(value.Data) == "one", err)
	must("it is changed at its revision", store.Update(ctx, key, value.Modified, []byte("three")))
	expect("it is not changed at an old one", store.Update(ctx, key, value.Modified, []byte("four")) != nil, nil)
	must("it is put over", store.Put(ctx, key, []byte("five")))
	values, err := store.List(ctx, "/bootstrap", 0)
	expect("it is listed", err == nil && len(values) == 1 && string(values[0].Data) == "five", err)
	old, err := store.List(ctx, "/bootstrap", int(value.Modified))
	expect("it is listed as it was", err == nil && len(old) == 1 && string(old[0].Data) == "one", err)
	_, err = store.Compact(ctx, values[0].Modified)
	must("the past is compacted", err)
	_, err = store.List(ctx, "/bootstrap", int(value.Modified))
	expect("a compacted past is refused", err != nil, nil)
	must("it is deleted at its revision", store.Delete(ctx, key, values[0].Modified))
	_, err = store.Get(ctx, key)
	expect("then it is gone", errors.Is(err, client.ErrNotFound), err)
}

func must(title string, err error) {
	expect(title, err == nil, err)
	if err != nil {
		os.Exit(1)
	}
}

func expect(title string, is bool, err error) {
	if is {
		fmt.Println("ok", title)
		return
	}
	fmt.Printf("FAIL %s: %v\n", title, err)
}
