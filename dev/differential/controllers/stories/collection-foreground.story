# In the foreground an owner waits for those that block it.
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
      spec: {containers: [{name: main, image: "a:1"}]}
wait pods length = 2
bind n1
run

### deleted in the foreground
delete deployments/web Foreground

### the pods end
gone
wait deployments/web gone
