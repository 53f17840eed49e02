# A rolling update with maxSurge and maxUnavailable in numbers, pod by pod.

### three replicas
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 3
    strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}

### they run
run

### a new image
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### the first new pods run
run 2

### all the rest
evolve
