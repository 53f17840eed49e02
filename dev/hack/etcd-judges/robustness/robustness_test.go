// Package robustness plays the traffic of etcd's robustness tests against one member, kills it meanwhile, and lets
// their checker judge what clients saw. Their own test reads the order of writes from the write-ahead log of etcd;
// this one takes it from the history that the server hands out, so that any server can be judged.
package robustness

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"golang.org/x/sync/errgroup"

	"go.etcd.io/etcd/tests/v3/framework"
	"go.etcd.io/etcd/tests/v3/framework/e2e"
	"go.etcd.io/etcd/tests/v3/robustness/client"
	"go.etcd.io/etcd/tests/v3/robustness/failpoint"
	"go.etcd.io/etcd/tests/v3/robustness/identity"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
	"go.etcd.io/etcd/tests/v3/robustness/traffic"
	"go.etcd.io/etcd/tests/v3/robustness/validate"
)

var runner = framework.E2eTestRunner

func TestMain(m *testing.M) {
	// The time of etcd's own machines is too short for a small one that does other things, too.
	traffic.RequestTimeout = requestMax
	runner.TestMain(m)
}

const (
	requestMax   = time.Second
	beforeKill   = 2 * time.Second
	jitter       = time.Second
	afterKill    = 2 * time.Second
	judgementMax = 5 * time.Minute
	// requestsMin is the rate per second below which a round says too little.
	requestsMin = 10
	// Other tests of etcd begin at 20000.
	basePort = 23000
)

type load struct {
	name    string
	traffic traffic.Traffic
	profile traffic.Profile
	watch   client.WatchConfig
}

var loads = []load{
	{name: "etcd/puts", traffic: traffic.EtcdPut, profile: traffic.HighTrafficProfile},
	{name: "etcd/deletes-and-leases", traffic: traffic.EtcdPutDeleteLease, profile: traffic.LowTraffic},
	{
		name: "etcd/progress", traffic: traffic.EtcdPutDeleteLease, profile: traffic.LowTraffic,
		watch: client.WatchConfig{RequestProgress: true},
	},
	{name: "kubernetes/high", traffic: traffic.Kubernetes, profile: traffic.HighTrafficProfile},
	{name: "kubernetes/low", traffic: traffic.Kubernetes, profile: traffic.LowTraffic},
	{
		name: "kubernetes/often-compacted", traffic: traffic.Kubernetes,
		profile: traffic.LowTraffic.WithCompactionPeriod(100 * time.Millisecond),
	},
	{
		name: "kubernetes/never-compacted", traffic: traffic.Kubernetes,
		profile: traffic.HighTrafficProfile.WithoutCompaction(),
	},
}

func TestOneMember(t *testing.T) {
	rounds := 1
	if text := os.Getenv("ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("Cannot read ROUNDS: %v", err)
		}
	}
	for _, each := range loads {
		for round := 1; round <= rounds; round++ {
			t.Run(fmt.Sprintf("%s/%d", each.name, round), func(t *testing.T) { judge(t, each) })
		}
	}
}

func judge(t *testing.T, each load) {
	runner.BeforeTest(t)
	each.profile.MinimalQPS = requestsMin
	log := zaptest.NewLogger(t, zaptest.Level(zap.InfoLevel))
	ctx := context.Background()
	config := e2e.NewConfig(e2e.WithClusterSize(1))
	config.Logger = log
	config.BasePort = basePort
	cluster, err := e2e.NewEtcdProcessCluster(ctx, t, e2e.WithConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, member := range cluster.Procs {
			_ = member.Kill()
		}
		_ = cluster.ConcurrentStop()
	}()
	history := followHistory(ctx, t, cluster.EndpointsGRPC())
	defer history.close()
	reports := play(ctx, t, log, each, cluster)
	persisted := persistedRequests(t, history.untilNow(), reports)
	checks := validate.Config{ExpectRevisionUnique: each.traffic.ExpectUniqueRevision()}
	validate.ValidateAndReturnVisualize(t, log, checks, reports, persisted, judgementMax)
}

// play runs the traffic until some time after the member was killed and has come back.
func play(ctx context.Context, t *testing.T, log *zap.Logger, each load, cluster *e2e.EtcdProcessCluster) []report.ClientReport {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	ids := identity.NewIDProvider()
	injected := make(chan report.FailpointInjection, 1)
	revisions := make(chan int64, 1)
	var asked, watched []report.ClientReport
	var group errgroup.Group
	group.Go(func() error {
		defer close(injected)
		time.Sleep(beforeKill + time.Duration(rand.Int63n(int64(jitter))))
		killed, err := failpoint.Inject(ctx, t, log, cluster, failpoint.KillFailpoint, start, ids)
		if err != nil {
			cancel()
			return err
		}
		time.Sleep(afterKill)
		injected <- killed.FailpointInjection
		return nil
	})
	group.Go(func() error {
		defer close(revisions)
		asked = traffic.SimulateTraffic(ctx, t, log, cluster, each.profile, each.traffic, injected, start, ids)
		revisions <- highestRevision(asked)
		return nil
	})
	group.Go(func() error {
		watched = client.CollectClusterWatchEvents(ctx, t, cluster, revisions, each.watch, start, ids)
		return nil
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return append(asked, watched...)
}

func highestRevision(reports []report.ClientReport) int64 {
	var highest int64
	for _, each := range reports {
		for _, operation := range each.KeyValue {
			highest = max(highest, operation.Output.(model.MaybeEtcdResponse).Revision)
		}
	}
	return highest
}
