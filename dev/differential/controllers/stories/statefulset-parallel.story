# Parallel: all at once, up and down.

### three
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 3
    podManagementPolicy: Parallel
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}

### a new image, before they run
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### they run
evolve

### a new image while they run
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:3"}]}}}}

### on
evolve

### none
patch statefulsets/web {spec: {replicas: 0}}
