# A rolling update from the last ordinal down, and back to the first revision.

### three run
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 3
    revisionHistoryLimit: 1
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
evolve

### a new image
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:2"}]}}}}

### the last one runs
run 1

### all
evolve

### back to the first
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:1"}]}}}}
evolve

### a third and a fourth: history is cut
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:3"}]}}}}
evolve
patch statefulsets/web {spec: {template: {spec: {containers: [{name: main, image: "a:4"}]}}}}
evolve
