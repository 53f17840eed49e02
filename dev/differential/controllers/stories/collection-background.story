# What a deployment leads to goes with it, in the background and in the foreground.
Show: deployments, replicasets, pods, events

### a deployment
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "a:1"}]}
wait pods length = 2

### deleted in the background
delete deployments/web Background
wait replicasets length = 0
wait pods length = 0
