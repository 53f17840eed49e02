# Which pods go: unassigned, pending, not ready, by deletion cost, before those that run.

### five, in all states
create
  kind: Node
  metadata: {name: ${ns}}
create
  kind: ReplicaSet
  metadata: {name: web}
  spec:
    replicas: 5
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
bind ${ns} 4
run web-<1>
run web-<2>
start web-<3>
patch pods/web-<1> {metadata: {annotations: {controller.kubernetes.io/pod-deletion-cost: "-10"}}}

### four
patch replicasets/web {spec: {replicas: 4}}

### three
patch replicasets/web {spec: {replicas: 3}}

### two
patch replicasets/web {spec: {replicas: 2}}

### one
patch replicasets/web {spec: {replicas: 1}}

### all ended
gone
