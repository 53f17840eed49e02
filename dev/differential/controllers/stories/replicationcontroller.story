# A replication controller does what a replica set does, under its own name.

### two
create
  kind: ReplicationController
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {app: web}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
run

### one
patch replicationcontrollers/web/scale {spec: {replicas: 1}}

### adopted
create
  kind: Pod
  metadata: {name: late, labels: {app: web}}
  spec: {containers: [{name: main, image: "x"}]}
