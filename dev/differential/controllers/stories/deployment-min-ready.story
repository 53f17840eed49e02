# Ready pods count as available only some seconds later.

### ready, not yet available
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    minReadySeconds: 10
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
run

### available
wait deployments/web status.availableReplicas = 2

### a new image waits for each
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
settle
run 1

### the first is available
wait replicasets length = 2
wait deployments/web status.updatedReplicas = 2
