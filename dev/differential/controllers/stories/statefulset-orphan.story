# Deleted with Orphan, made again: the pods and revisions are taken over.

### two run
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
evolve

### orphaned
delete statefulsets/web Orphan
wait statefulsets/web gone

### again
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
