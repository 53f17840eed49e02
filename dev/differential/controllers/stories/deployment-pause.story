# A paused deployment changes nothing but its size; resuming rolls out what was changed meanwhile.

### two run
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
run

### paused
patch deployments/web {spec: {paused: true}}

### a new template while paused
patch deployments/web {spec: {template: {metadata: {annotations: {a: "1"}}}}}

### scaled while paused
patch deployments/web/scale {spec: {replicas: 3}}

### resumed
patch deployments/web {spec: {paused: false}}

### rolled out
evolve
