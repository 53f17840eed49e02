# Pods that never run: the deployment says so when its deadline is over, and again when they do.

### nothing runs
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    progressDeadlineSeconds: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}

### the deadline is over
wait deployments/web status.conditions.Progressing.status = False

### they run after all
run

### a new image that does not start either
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
settle
wait deployments/web status.conditions.Progressing.status = False

### given up: back
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:1"}]}}}}
evolve
