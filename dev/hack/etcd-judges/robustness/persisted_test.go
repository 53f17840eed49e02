package robustness

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/tests/v3/robustness/model"
	"go.etcd.io/etcd/tests/v3/robustness/report"
)

const historyMax = 30 * time.Second

// change is what one revision did: keys with their new values, and nil for deleted ones.
type change map[string]*model.ValueOrHash

type history struct {
	t      *testing.T
	client *clientv3.Client
	cancel context.CancelFunc
	lock   sync.Mutex
	byRev  map[int64]change
	last   int64
	failed error
}

// followHistory reads every change from the first one on, so that compactions hide none.
func followHistory(ctx context.Context, t *testing.T, endpoints []string) *history {
	redial := grpc.ConnectParams{
		Backoff: backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1, MaxDelay: 20 * time.Millisecond},
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   endpoints,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(redial)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &history{t: t, client: client, cancel: cancel, byRev: map[int64]change{}, last: 1}
	go h.follow(client.Watch(ctx, "", clientv3.WithPrefix(), clientv3.WithRev(2)))
	return h
}

func (h *history) follow(answers clientv3.WatchChan) {
	for answer := range answers {
		h.lock.Lock()
		h.failed = answer.Err()
		for _, event := range answer.Events {
			h.note(event)
		}
		h.lock.Unlock()
	}
}

func (h *history) note(event *clientv3.Event) {
	revision := event.Kv.ModRevision
	if h.byRev[revision] == nil {
		h.byRev[revision] = change{}
	}
	if event.Type == clientv3.EventTypeDelete {
		h.byRev[revision][string(event.Kv.Key)] = nil
	} else {
		value := model.ToValueOrHash(string(event.Kv.Value))
		h.byRev[revision][string(event.Kv.Key)] = &value
	}
	h.last = max(h.last, revision)
}

// untilNow returns the history once it has reached the server's revision.
func (h *history) untilNow() map[int64]change {
	ctx, cancel := context.WithTimeout(context.Background(), historyMax)
	defer cancel()
	answer, err := h.client.Get(ctx, "any")
	if err != nil {
		h.t.Fatalf("Cannot ask for the revision: %v", err)
	}
	for ctx.Err() == nil {
		h.lock.Lock()
		last, failed := h.last, h.failed
		h.lock.Unlock()
		if failed != nil {
			h.t.Fatalf("Cannot judge, because the history was not read to its end: %v", failed)
		}
		if last >= answer.Header.Revision {
			h.lock.Lock()
			defer h.lock.Unlock()
			return maps.Clone(h.byRev)
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.t.Fatalf("A watch from the start never reached revision %d", answer.Header.Revision)
	return nil
}

func (h *history) close() {
	h.cancel()
	_ = h.client.Close()
}

// persistedRequests finds the request that made each revision. Requests that were answered tell their revision; of those
// whose answer was lost, one is taken that makes exactly this change in this state. If a later revision then has no
// explanation, another one is tried.
func persistedRequests(t *testing.T, changes map[int64]change, reports []report.ClientReport) []model.EtcdRequest {
	state := model.EtcdState{
		Revision: 1, CompactRevision: -1, KeyValues: map[string]model.ValueRevision{},
		KeyLeases: map[string]int64{}, Leases: map[int64]model.EtcdLease{},
	}
	search := &search{changes: changes, answered: map[int64][]model.EtcdRequest{}, lostUsed: map[int]bool{}}
	var granted []model.EtcdRequest
	for _, each := range reports {
		for _, operation := range each.KeyValue {
			request := operation.Input.(model.EtcdRequest)
			answer := operation.Output.(model.MaybeEtcdResponse)
			switch {
			case request.Type == model.LeaseGrant:
				if answer.Error == "" {
					// A grant makes no revision. As no put used it earlier, it may as well be the first.
					state, _ = state.Step(request)
					granted = append(granted, request)
				}
			case request.Type != model.LeaseRevoke && (request.Type != model.Txn || request.IsRead()):
			case answer.Error != "":
				search.lost = append(search.lost, request)
			case answer.ClientError == "":
				search.answered[answer.Revision] = append(search.answered[answer.Revision], request)
			}
		}
	}
	if !search.explain(2, state) {
		t.Fatalf("No request explains revision %d: %v", search.furthest, changes[search.furthest])
	}
	return append(granted, search.found...)
}

type search struct {
	changes  map[int64]change
	answered map[int64][]model.EtcdRequest
	lost     []model.EtcdRequest
	lostUsed map[int]bool
	found    []model.EtcdRequest
	furthest int64
}

// explain finds requests for this revision and all later ones.
func (s *search) explain(revision int64, state model.EtcdState) bool {
	if revision > int64(len(s.changes))+1 {
		return true
	}
	s.furthest = max(s.furthest, revision)
	want := s.changes[revision]
	for _, request := range s.answered[revision] {
		if next, is := made(want, state, request); is {
			// Two that are both true to this state cannot both have been answered with this revision.
			s.found = append(s.found, request)
			if s.explain(revision+1, next) {
				return true
			}
			s.found = s.found[:len(s.found)-1]
			return false
		}
	}
	for at, request := range s.lost {
		if s.lostUsed[at] {
			continue
		}
		next, is := made(want, state, request)
		if !is {
			continue
		}
		s.lostUsed[at] = true
		s.found = append(s.found, request)
		if s.explain(revision+1, next) {
			return true
		}
		s.found = s.found[:len(s.found)-1]
		s.lostUsed[at] = false
	}
	return false
}

func made(want change, state model.EtcdState, request model.EtcdRequest) (model.EtcdState, bool) {
	if !touches(request, state, want) {
		return state, false
	}
	next, _ := state.Step(request)
	return next, next.Revision == state.Revision+1 && makes(want, state, next)
}

// touches spares most requests the costly step.
func touches(request model.EtcdRequest, state model.EtcdState, want change) bool {
	if request.Type == model.LeaseRevoke {
		for key := range state.Leases[request.LeaseRevoke.LeaseID].Keys {
			_, is := want[key]
			return is
		}
		return false
	}
	for _, operations := range [][]model.EtcdOperation{request.Txn.OperationsOnSuccess, request.Txn.OperationsOnFailure} {
		for _, operation := range operations {
			key := operation.Put.Key
			if operation.Type == model.DeleteOperation {
				key = operation.Delete.Key
			}
			if _, is := want[key]; is {
				return true
			}
		}
	}
	return false
}

func makes(want change, before, after model.EtcdState) bool {
	for key, value := range want {
		now, is := after.KeyValues[key]
		if is != (value != nil) || (is && (now.Value != *value || now.ModRevision != after.Revision)) {
			return false
		}
	}
	for key, now := range after.KeyValues {
		if now.ModRevision == after.Revision && want[key] == nil {
			return false
		}
	}
	for key := range before.KeyValues {
		if _, is := after.KeyValues[key]; !is {
			if value, listed := want[key]; !listed || value != nil {
				return false
			}
		}
	}
	return true
}
