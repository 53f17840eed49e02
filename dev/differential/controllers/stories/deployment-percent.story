# A rolling update of nine with the default 25 %: surge rounds up, unavailable rounds down.

### nine replicas run
create
  kind: Deployment
  metadata: {name: web, annotations: {team: edge}}
  spec:
    replicas: 9
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
run

### a new image, and nothing starts
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### two new ones run
run 2

### the rest
evolve
