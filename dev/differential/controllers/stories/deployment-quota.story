# Pods that a quota refuses: FailedCreate, ReplicaFailure, and all is well when there is room.
Counts: vary

### room for one
create
  kind: ResourceQuota
  metadata: {name: pods}
  spec: {hard: {pods: "1"}}
wait resourcequotas/pods status.hard.pods
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
wait deployments/web status.conditions.ReplicaFailure.status = True
wait replicasets 0.status.conditions.ReplicaFailure.status = True
