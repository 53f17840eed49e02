// Package testserver stands in for the package of this name in k8s.io/apiserver/pkg/storage/etcd3: instead of an etcd
// in the process it starts the program that ETCD_PROGRAM names, which takes etcd's flags.
package testserver

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

const (
	startMax = 60 * time.Second
	stopMax  = 10 * time.Second
)

// NewTestConfig returns the settings that the tests may change; RunEtcd makes flags of them.
func NewTestConfig(t testing.TB) *embed.Config {
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.ListenClientUrls = []url.URL{loopback(t)}
	config.ListenPeerUrls = []url.URL{loopback(t)}
	return config
}

// RunEtcd starts the program and returns a client of it. The program ends with the test.
func RunEtcd(t testing.TB, config *embed.Config) *kubernetes.Client {
	t.Helper()
	if config == nil {
		config = NewTestConfig(t)
	}
	endpoint := config.ListenClientUrls[0].String()
	start(t, config, endpoint)
	client, err := kubernetes.New(clientv3.Config{
		Endpoints:   []string{endpoint},
		DialTimeout: startMax,
		DialOptions: []grpc.DialOption{grpc.WithBlock()},
	})
	if err != nil {
		t.Fatalf("Cannot reach %s: %v", endpoint, err)
	}
	client.KV = storagetesting.NewKVRecorder(client.KV)
	client.Kubernetes = storagetesting.NewKubernetesRecorder(client.Kubernetes)
	return client
}

func start(t testing.TB, config *embed.Config, endpoint string) {
	t.Helper()
	program := os.Getenv("ETCD_PROGRAM")
	if program == "" {
		t.Fatal("Cannot start a server: ETCD_PROGRAM names none")
	}
	peers := config.ListenPeerUrls[0].String()
	flags := []string{
		"--data-dir=" + config.Dir,
		"--log-level=error",
		"--listen-client-urls=" + endpoint,
		"--advertise-client-urls=" + endpoint,
		"--listen-peer-urls=" + peers,
		"--initial-advertise-peer-urls=" + peers,
		"--initial-cluster=default=" + peers,
	}
	if interval := config.WatchProgressNotifyInterval; interval != 0 {
		flags = append(flags, "--watch-progress-notify-interval="+interval.String())
	}
	command := exec.Command(program, flags...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatalf("Cannot start %s: %v", program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(stopMax):
			_ = command.Process.Kill()
			t.Errorf("%s did not end within %s", program, stopMax)
		}
	})
}

// loopback finds a free port; another process may take it before the server does, which then says so and ends.
func loopback(t testing.TB) url.URL {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return url.URL{Scheme: "http", Host: fmt.Sprint(listener.Addr())}
}
