# Two deployments with one selector: each keeps to its own replica sets.

### both
create
  kind: Deployment
  metadata: {name: one}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve
create
  kind: Deployment
  metadata: {name: two}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web, tier: two}}
      spec: {containers: [{name: main, image: "b:1"}]}
evolve

### one changes
patch deployments/one {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}
evolve
