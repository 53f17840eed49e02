# Pods that end slowly: the next step waits for them.

### two run on a node
create
  kind: Node
  metadata: {name: ${ns}}
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
bind ${ns} 1
run 1
bind ${ns} 1
run 1

### a new image: the last is ending
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### it has ended
gone

### scaled down meanwhile
patch statefulsets/web {spec: {replicas: 0}}

### all ended
gone
settle
gone
