# Shares of the pods that their controller wants.
Show: poddisruptionbudgets, pods, events
Counts: vary

### of a replica set
create
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {maxUnavailable: 34%, selector: {matchLabels: {app: web}}}
create
  kind: ReplicaSet
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
wait pods length = 3
bind n1
run

### as a lower bound
patch poddisruptionbudgets/web {spec: {maxUnavailable: null, minAvailable: 50%}}

### the set wants more
patch replicasets/web {spec: {replicas: 5}}
