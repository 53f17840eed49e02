package main

import (
	"context"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

var accessChecks = []check{
	{"token request, token review, use of the token", tokens},
	{"access reviews and rules", accessReviews},
	{"impersonation", impersonation},
	{"leader election", leaderElection},
	{"events, core and events.k8s.io", recordedEvents},
}

func tokens(ctx context.Context, s *scene) error {
	accounts := s.protobuf.CoreV1().ServiceAccounts(s.namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	seconds := int64(600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	issued, err := accounts.CreateToken(ctx, "robot", request, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: issued.Status.Token}}
	reviewed, err := s.protobuf.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	name := "system:serviceaccount:" + s.namespace + ":robot"
	if err := expect(reviewed.Status.User.Username, name); err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(s.config)
	config.BearerToken = issued.Status.Token
	robot, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := robot.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(self.Status.UserInfo.Username, name); err != nil {
		return err
	}
	_, err = robot.CoreV1().Secrets(s.namespace).List(ctx, metav1.ListOptions{})
	return expect(apierrors.IsForbidden(err), true)
}

func accessReviews(ctx context.Context, s *scene) error {
	rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{rule}}
	if _, err := s.protobuf.RbacV1().Roles(s.namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "jane"}},
	}
	if _, err := s.protobuf.RbacV1().RoleBindings(s.namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	allowed := func(verb string) (bool, error) {
		attributes := &authorizationv1.ResourceAttributes{Namespace: s.namespace, Verb: verb, Resource: "pods"}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "jane", ResourceAttributes: attributes}}
		got, err := s.protobuf.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return got.Status.Allowed, nil
	}
	may, err := allowed("get")
	if err != nil {
		return err
	}
	mayNot, err := allowed("delete")
	if err != nil {
		return err
	}
	rules := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: s.namespace}}
	own, err := s.protobuf.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, rules, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return expect([]bool{may, mayNot, len(own.Status.ResourceRules) > 0}, []bool{true, false, true})
}

func impersonation(ctx context.Context, s *scene) error {
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "jane"}
	jane, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	_, missing := jane.CoreV1().Pods(s.namespace).Get(ctx, "nobody", metav1.GetOptions{})
	_, forbidden := jane.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
	return expect([]bool{apierrors.IsNotFound(missing), apierrors.IsForbidden(forbidden)}, []bool{true, true})
}

// The second leads only when the first has let go.
func leaderElection(ctx context.Context, s *scene) error {
	var leading, most atomic.Int32
	elect := func(ctx context.Context, identity string, onLead func()) {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: s.namespace},
			Client:     s.protobuf.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 4 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 300 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					most.Store(max(most.Load(), leading.Add(1)))
					onLead()
					<-ctx.Done()
				},
				OnStoppedLeading: func() { leading.Store(0) },
			},
		})
	}
	first, stopFirst := context.WithCancel(ctx)
	second, stopSecond := context.WithCancel(ctx)
	defer stopFirst()
	defer stopSecond()
	led := make(chan string, 2)
	go elect(first, "first", func() { led <- "first" })
	if err := expect(<-led, "first"); err != nil {
		return err
	}
	go elect(second, "second", func() { led <- "second" })
	time.Sleep(700 * time.Millisecond)
	stopFirst()
	select {
	case name := <-led:
		return expect([]any{name, most.Load()}, []any{"second", 1})
	case <-ctx.Done():
		return ctx.Err()
	}
}

func recordedEvents(ctx context.Context, s *scene) error {
	about, err := s.json.CoreV1().ConfigMaps(s.namespace).Create(ctx, configMap("noted", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	old := record.NewBroadcaster()
	defer old.Shutdown()
	old.StartRecordingToSink(&clientSink{s})
	recorder := old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "client-go"})
	recorder.Event(about, corev1.EventTypeNormal, "Noted", "said twice")
	recorder.Event(about, corev1.EventTypeNormal, "Noted", "said twice")
	next := events.NewBroadcaster(&events.EventSinkImpl{Interface: s.json.EventsV1()})
	defer next.Shutdown()
	next.StartRecordingToSink(ctx.Done())
	next.NewRecorder(scheme.Scheme, "client-go").Eventf(about, nil, corev1.EventTypeWarning, "Newer", "Note", "said")
	return eventually(ctx, "both events", func() bool {
		list, err := s.protobuf.CoreV1().Events(s.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=noted"})
		if err != nil {
			return false
		}
		counts := map[string]int32{}
		for _, event := range list.Items {
			counts[event.Reason] = event.Count
		}
		_, isNew := counts["Newer"]
		return counts["Noted"] == 2 && isNew
	})
}

// record.EventSink over the typed client.
type clientSink struct{ scene *scene }

func (c *clientSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return c.scene.json.CoreV1().Events(c.scene.namespace).CreateWithEventNamespaceWithContext(context.Background(), event)
}

func (c *clientSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return c.scene.json.CoreV1().Events(c.scene.namespace).UpdateWithEventNamespaceWithContext(context.Background(), event)
}

func (c *clientSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return c.scene.json.CoreV1().Events(c.scene.namespace).PatchWithEventNamespaceWithContext(context.Background(), event, data)
}
