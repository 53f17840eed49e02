# Pods are adopted by their labels, and released and replaced when these change.

### a pod alone
create
  kind: Pod
  metadata: {name: early, labels: {app: web}}
  spec: {containers: [{name: main, image: "x"}]}
settle
run early

### taken
create
  kind: ReplicaSet
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}

### given away
patch pods/early {metadata: {labels: {app: other}}}

### orphaned
delete replicasets/web Orphan
wait replicasets/web gone
