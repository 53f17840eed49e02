# A replica set whose labels match is adopted when its template is the same, or becomes an old one.

### a replica set alone
create
  kind: ReplicaSet
  metadata: {name: early, labels: {app: web}}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web, early: "yes"}}
    template:
      metadata: {labels: {app: web, early: "yes"}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
run

### a deployment comes
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle

### it rolls over
evolve
