# A budget counts healthy pods; evictions use it up.
Show: poddisruptionbudgets, events
Counts: vary

### a budget without pods
create
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}

### three pods that are not ready
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

### they are
run

### one is not any more
unready 1

### more are wanted
run
patch poddisruptionbudgets/web {spec: {minAvailable: 3}}

### an evicted pod
patch poddisruptionbudgets/web {spec: {minAvailable: 1}}
settle
