# Pods that are still ending count as terminating.

### three run
create
  kind: Node
  metadata: {name: ${ns}}
create
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
settle
bind ${ns}
run

### two are taken away
patch deployments/web {spec: {replicas: 1}}

### they have ended
gone

### rolled over while the old one ends slowly
patch deployments/web {spec: {template: {metadata: {annotations: {a: "2"}}}}}
settle
run 1

### ended
gone
