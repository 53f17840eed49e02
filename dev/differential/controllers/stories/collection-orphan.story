# Orphans stay, without their owner.
Show: replicasets, pods, events

### a replica set
create
  kind: ReplicaSet
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
wait pods length = 2

### deleted, its pods stay
delete replicasets/web Orphan
wait replicasets/web gone
