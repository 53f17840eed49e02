# Deleted with Orphan: replica set and pods stay; the next deployment of the same template takes them.

### one runs
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
run

### orphaned
delete deployments/web Orphan

### taken over
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### deleted from the foreground
delete deployments/web Foreground
wait deployments/web gone
