# Back to a template that was there before: its replica set gets the next revision.

### first
create
  kind: Deployment
  metadata: {name: web, annotations: {kubernetes.io/change-cause: "first"}}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### second
patch deployments/web {metadata: {annotations: {kubernetes.io/change-cause: "second"}}, spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
evolve

### back to the first
patch deployments/web {metadata: {annotations: {kubernetes.io/change-cause: "back"}}, spec: {template: {spec: {containers: [{name: main, image: "a:1"}]}}}}
evolve

### and again the second
patch deployments/web {metadata: {annotations: {kubernetes.io/change-cause: null}}, spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
evolve
