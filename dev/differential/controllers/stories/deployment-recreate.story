# Recreate: all old pods have ended before a new one starts.

### two run
create
  kind: Node
  metadata: {name: ${ns}}
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    strategy: {type: Recreate}
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
bind ${ns}
run

### a new image: the old ones are told to end
patch deployments/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### one has ended
gone 1

### both have
gone 1

### the new ones run
run
